import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory(
  { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` },
  { peersPossible: true },
)
const browser = await openBrowser()

const logIn = async (email: string, secret: string, device: string) =>
  service.call("POST", "/auth/token", {
    body: { email, password: secret },
    headers: { "user-agent": device },
  })

describe.skipIf(executable === undefined)("the console", () => {
  it("resets a forgotten password by the link from the email, and is signed in afterwards", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await page.getByRole("link", { name: "Forgot password?" }).click()
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("button", { name: "Email me a link" }).click()
    await page.getByRole("heading", { name: "Check your email" }).waitFor()
    await page.getByRole("button", { name: "Open the link from the outbox" }).click()
    await page.getByLabel("New password").fill("a new and better password")
    await page.getByRole("button", { name: "Set new password" }).click()
    await page.locator(".signed-in", { hasText: person.email }).waitFor({ state: "attached" })
    expect((await logIn(person.email, password, "curl/8")).status).toBe(401)
    expect((await logIn(person.email, "a new and better password", "curl/8")).status).toBe(200)
  })

  it("lists the sessions with their devices, and ends one of them", async () => {
    const person = await register(service)
    const other = await logIn(person.email, password, "curl/8.5.0")
    const page = await openConsole(await browser.person(), service, person, "#/account/sessions")
    const entry = page.getByRole("listitem").filter({ hasText: "curl/8.5.0" })
    await entry.getByRole("button", { name: "End session" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "End session" }).click()
    await entry.waitFor({ state: "detached" })
    await page.getByRole("listitem").filter({ hasText: "This session" }).waitFor()
    const { access_token: token } = other.body
    expect((await service.call("GET", "/cart", { token })).status).toBe(401)
  })

  it("is signed out when the user ends the session of this tab", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/sessions")
    const entry = page.getByRole("listitem").filter({ hasText: "This session" })
    await entry.getByRole("button", { name: "End session" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "End session" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
  })
})
