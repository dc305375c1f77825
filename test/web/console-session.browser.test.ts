import { describe, expect, it } from "vitest"
import { totpCode } from "../auth/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

/** The console renews a token a minute before its end: here every two seconds. */
const port = await freePort()
const service = await serveDirectory({
  PORT: String(port),
  BASE_URL: `http://127.0.0.1:${port}`,
  ACCESS_TOKEN_SECONDS: "62",
})
const browser = await openBrowser()

describe.skipIf(executable === undefined)("a login in the console", { timeout: 60_000 }, () => {
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
})
