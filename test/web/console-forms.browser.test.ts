import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("what somebody types in the console", { timeout: 60_000 }, () => {
  it("stays in the profile while the account changes", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/profile")
    const freeLeft = page.locator("dt", { hasText: "Free ids left" }).locator("+ dd")
    await freeLeft.getByText("1").waitFor()
    await page.getByLabel("First name").fill("Ada")
    await page.getByLabel("New password").fill("another horse")
    await page.getByRole("heading", { name: "Account" }).click()
    const { token } = person
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐢🎨🐢" }] } })
    await service.call("POST", "/cart/checkout", { token, body: { method: "Free" } })
    await freeLeft.getByText("0").waitFor()
    expect(await page.getByLabel("First name").inputValue()).toBe("Ada")
    expect(await page.getByLabel("New password").inputValue()).toBe("another horse")
  })
})
