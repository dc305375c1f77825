import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console", () => {
  it("creates an API key for sensitive operations after the user enters the password, and marks it in the list", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/keys")
    const create = page.getByRole("button", { name: "Create key" })
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("shop")
    await page.getByLabel("cart:update").check()
    await page.getByLabel("Allow sensitive operations").check()
    await create.click()
    await page.getByText("The current password is required.").waitFor()
    await page.getByLabel("Current password").fill(password)
    await create.click()
    await page.getByText("It is not shown again.").waitFor()
    await page.locator("li", { hasText: "shop" }).getByText("Sensitive operations").waitFor()
    expect(await page.getByLabel("Current password").isVisible()).toBe(false)

    await page.getByRole("textbox", { name: "Name", exact: true }).fill("reader")
    await create.click()
    await page.locator("li", { hasText: "reader" }).waitFor()
    const { body } = await service.call("GET", "/api_keys", { token: person.token })
    const shown = body.map((key: { name: string; sensitive: boolean }) => [key.name, key.sensitive])
    expect(shown).toEqual([
      ["shop", true],
      ["reader", false],
    ])
  })

  it("shows incoming transfers only after the user confirms the email address, without a reload", async () => {
    const [sender, receiver] = [await register(service), await register(service)]
    await service.sql`update app_user set email_verified_at = null where id = ${receiver.id}`
    await service.sql`update app_user set proven_at = null, proven_email = null where id = ${receiver.id}`
    await service.register("🐢🎈", sender)
    const body = { eid: "🐢🎈", email: receiver.email }
    await service.call("POST", "/transfers", { token: sender.token, body })
    const page = await openConsole(await browser.person(), service, receiver, "#/transfers")
    await page.getByRole("link", { name: "confirm your email address" }).click()
    await page.getByRole("button", { name: "Confirm from outbox" }).click()
    await page.getByText("Your email address is confirmed.").waitFor()
    await page.getByRole("link", { name: /^Transfers/ }).click()
    await page.locator(".transfer", { hasText: sender.email }).waitFor()
    expect(await page.getByText("Incoming transfers are shown after").count()).toBe(0)
  })
})
