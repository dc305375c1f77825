import type { Page, WebSocket } from "playwright-core"
import { describe, expect, it } from "vitest"
import { login, totpCode, turnOnTotp } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const serveConsole = async (environment: Record<string, string>) => {
  const port = await freePort()
  return serveDirectory(
    { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, ...environment },
    // As one of several processes: what is changed behind the service's back is then seen by it.
    { peersPossible: true },
  )
}
/** The console renews a token a minute before its end: here every two seconds. */
const service = await serveConsole({ ACCESS_TOKEN_SECONDS: "62" })
/** Here it renews no token by itself while a test runs. */
const calm = await serveConsole({})
const browser = await openBrowser()

const keptBy = async (page: Page): Promise<{ access_token: string; refresh_token: string }> =>
  JSON.parse(await page.evaluate(() => sessionStorage.getItem("console-tokens") ?? "{}"))

describe.skipIf(executable === undefined)("a login in the console", () => {
  it("outlives a payment in another tab that took longer than its token", async () => {
    const buyer = await register(service)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎬🐢" }] } })
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const opened = page.waitForEvent("popup")
    await page.getByRole("button", { name: /by card$/ }).click()
    const popup = await opened
    await popup.getByRole("button", { name: /^Pay / }).first().waitFor()
    const copied = new Set([(await keptBy(popup)).refresh_token])
    await expect.poll(async () => copied.add((await keptBy(page)).refresh_token).size).toBe(3)
    await popup.getByRole("button", { name: /^Pay / }).first().click()
    await popup.locator(".order", { hasText: "Paid" }).waitFor()
    const { access_token: token } = await keptBy(page)
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
  })

  it("begins and leads on to what was wanted where the browser lets sites store nothing", async () => {
    const person = await register(service)
    const page = await (await browser.person()).newPage()
    await page.addInitScript(() => {
      Object.defineProperty(window, "sessionStorage", {
        get: () => {
          throw new DOMException("Access is denied for this document.", "SecurityError")
        },
      })
    })
    await page.goto(`${service.url}/#/transfers`)
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Transfers", level: 1 }).waitFor()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("link", { name: "Sign in" }).waitFor()
  })

  it("ends everywhere when it is ended after its token", async () => {
    const person = await register(service)
    const elsewhere = await login(service, person.email, password)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    // As after a sleep: the service does not take the token any more.
    let refused = 0
    await context.route("**/logout", (route) =>
      ++refused === 1
        ? route.fulfill({ status: 401, json: { error: "The access token has ended." } })
        : route.continue(),
    )
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("You are signed out everywhere.").waitFor()
    const again = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: elsewhere.body.refresh_token },
    })
    expect(again.status).toBe(401)
    expect(await keptBy(page)).toEqual({})
  })

  it("stays when another login of the same person ends alone", async () => {
    const person = await register(service)
    const elsewhere = (await login(service, person.email, password)).body
    const context = await browser.person()
    const heard = new Promise<void>((tell) =>
      context.on("page", (page) =>
        page.on("websocket", (socket) =>
          socket.on("framereceived", ({ payload }) => {
            if (String(payload).includes("session.logged_out")) tell()
          }),
        ),
      ),
    )
    const page = await openConsole(context, service, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    const refresh = async (refresh_token: string) =>
      (await service.call("POST", "/auth/token/refresh", { body: { refresh_token } })).body.refresh_token
    await refresh(await refresh(elsewhere.refresh_token))
    expect(await refresh(elsewhere.refresh_token)).toBeUndefined()
    await heard
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true)
    expect(await keptBy(page)).toHaveProperty("access_token")
  })

  it("says that it has ended to whoever is filling in a form, and leads back there", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/profile")
    await page.getByLabel("First name").fill("Ada")
    // Nothing tells of it until the form is sent.
    let hasEnded = false
    await page.route("**/auth/token/refresh", (route) =>
      hasEnded
        ? route.fulfill({ status: 401, json: { error: "The refresh token has ended." } })
        : route.continue(),
    )
    await page.route("**/account", (route) => {
      hasEnded ||= route.request().method() === "PATCH"
      return hasEnded
        ? route.fulfill({ status: 401, json: { error: "The access token has ended." } })
        : route.continue()
    })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("You were signed out.").waitFor()
    await page.unrouteAll()
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    await page.getByLabel("First name").waitFor()
    expect(page.url()).toContain("#/account/profile")
  })

  it("goes on in the tab where its password was changed", async () => {
    const person = await register(service)
    const context = await browser.person()
    const opened = new Promise<WebSocket>((tell) =>
      context.on("page", (page) => page.once("websocket", (socket) => tell(socket))),
    )
    const page = await openConsole(context, service, person, "#/account/profile")
    const socket = await opened
    await context.route("**/account", async (route) => {
      if (route.request().method() !== "PATCH") return route.continue()
      const closed = socket.waitForEvent("close")
      const response = await route.fetch()
      // The socket tells of the end of the old login before the answer tells of the new one.
      await closed
      await route.fulfill({ response })
    })
    await page.getByLabel("Current password").fill(password)
    await page.getByLabel("New password").fill("another horse battery staple")
    await page.getByRole("button", { name: "Change the password" }).click()
    await page.getByText("The password was changed").waitFor()
    await page.locator("#live-state", { hasText: "Live" }).waitFor()
    expect(await page.getByText("You were signed out.").isVisible()).toBe(false)
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    expect(page.url()).toContain("#/account/profile")
  })

  it("goes on in every tab when a code is entered in one", async () => {
    const person = await register(calm)
    const context = await browser.person()
    const one = await openConsole(context, calm, person, "#/account/keys")
    const two = await openConsole(context, calm, person, "#/market")
    const { secret } = await turnOnTotp(calm, person.token)
    await calm.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,verifiedAt}', '1')
      where kind = 'session' and owner_id = ${person.id}`
    const before = (await keptBy(two)).refresh_token
    await one.getByLabel("Name").fill("shop")
    await one.getByRole("button", { name: "Make the key" }).click()
    await one.getByLabel("Code", { exact: true }).fill(totpCode(secret))
    await one.getByRole("button", { name: "Confirm" }).click()
    await one.getByText(/svc_/).waitFor()
    await expect.poll(async () => (await keptBy(two)).refresh_token).not.toBe(before)
    await two.getByRole("button", { name: "Sign out" }).waitFor()
    const { refresh_token } = await keptBy(two)
    expect((await calm.call("POST", "/auth/token/refresh", { body: { refresh_token } })).status).toBe(200)
  })

  it("keeps the secret and the backup codes on the page while the account changes", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/security")
    await page.getByRole("button", { name: "Set up an authenticator app" }).click()
    const secret = (await page.locator(".secret").textContent()) ?? ""
    const codes = await page.locator(".backup-codes li").allTextContents()
    const read = page.waitForResponse(/\/account$/)
    await service.call("POST", "/cart", { token: person.token, body: { items: [{ emoji_id: "🐢🎨🐢" }] } })
    await service.call("POST", "/cart/checkout", { token: person.token, body: { method: "Free" } })
    await (await read).finished()
    await page.getByLabel("Code the app shows").fill(totpCode(secret))
    await page.getByRole("button", { name: "Turn it on" }).click()
    await page.getByText("Two-factor is on: Authenticator app.").waitFor()
    expect(await page.locator(".backup-codes li").allTextContents()).toEqual(codes)
  })

  it.each([429, 503])("goes on by itself after a reload that was answered %i", async (status) => {
    const person = await register(calm)
    const context = await browser.person()
    // The page before the reload must not be the one that is refused, nor spend the refresh token.
    const page = await openConsole(context, calm, person, "#/cart")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    // As after a sleep: the token has to be renewed first.
    const ended = person.tokens.access_token.replace(
      /\.[^.]+\./,
      `.${btoa('{"exp":1}').replaceAll("=", "")}.`,
    )
    // Put there by the new page: what the old one writes last may come too late for it.
    await page.addInitScript(
      (kept) => sessionStorage.setItem("console-tokens", kept),
      JSON.stringify({ ...person.tokens, access_token: ended }),
    )
    let refused = 0
    await context.route("**/auth/token/refresh", (route) =>
      ++refused === 1 ? route.fulfill({ status, json: { error: "Not now." } }) : route.continue(),
    )
    // Noted within the page: on a busy machine it may be gone again before anybody looks from outside.
    await context.addInitScript(() => {
      const look = () => {
        if (document.body?.textContent.includes("Not now.")) document.documentElement.dataset["told"] = "yes"
      }
      new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
    })
    await page.reload()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    await page.getByRole("heading", { name: "Cart", exact: true }).waitFor()
    expect(refused).toBeGreaterThan(1)
    expect(await page.locator("html").getAttribute("data-told")).toBe("yes")
  })
})
