import type { BrowserContext, Page } from "playwright-core"
import type { TestService } from "../fixtures/service.ts"

export const password = "correct horse battery staple"

export interface ConsolePerson {
  readonly id: string
  readonly email: string
  readonly token: string
  readonly tokens: { readonly access_token: string; readonly refresh_token: string }
}

let people = 0

/** Registers a user with a password and a confirmed email address, and signs in. */
export const register = async (service: TestService): Promise<ConsolePerson> => {
  const email = `console-${++people}@example.com`
  const { body: tokens } = await service.call("POST", "/users", { body: { email, password } })
  const [row] = await service.sql<[{ id: string }]>`
    update app_user set email_verified_at = now() where email = ${email} returning id`
  return { id: row.id, email, token: tokens.access_token, tokens }
}

export const registerAdmin = async (
  service: TestService & { readonly admin: { readonly token: string } },
): Promise<ConsolePerson> => {
  const person = await register(service)
  await service.call("PATCH", `/users/${person.id}`, { token: service.admin.token, body: { role: "Admin" } })
  const { body: tokens } = await service.call("POST", "/auth/token/refresh", {
    body: { refresh_token: person.tokens.refresh_token },
  })
  return { ...person, token: tokens.access_token, tokens }
}

/** Opens the console at the given hash. If a person is given, the tab is already signed in. */
export const openConsole = async (
  context: BrowserContext,
  service: TestService,
  person: ConsolePerson | undefined,
  hash: string,
): Promise<Page> => {
  const page = await context.newPage()
  if (person !== undefined) {
    await page.addInitScript(
      (stored) =>
        sessionStorage.setItem("console-tokens", sessionStorage.getItem("console-tokens") ?? stored),
      JSON.stringify(person.tokens),
    )
  }
  await page.goto(`${service.url}/${hash}`)
  await page.locator("#live-state", { hasText: "Live" }).waitFor()
  // The view replaces the form of the server's page, so a test must not use that form.
  await page.locator("#view > .view").waitFor()
  return page
}

/** Marks the document. A reload removes the mark, so `isMarked` shows that the page was not reloaded. */
export const mark = (page: Page) =>
  page.evaluate(() => {
    document.documentElement.dataset["mark"] = "here"
  })
export const isMarked = (page: Page) =>
  page.evaluate(() => document.documentElement.dataset["mark"] === "here")
