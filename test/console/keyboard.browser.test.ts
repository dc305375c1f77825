import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const focused = (page: Page) =>
  page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent}`)

describe.skipIf(executable === undefined)("keyboard focus in the console", () => {
  it("stays on the tile of an id after the id is added to the cart", async () => {
    const buyer = await register(service)
    const hash = `#/market/${encodeURIComponent("🐢🎯🐢")}`
    const page = await openConsole(await browser.person(), service, buyer, hash)
    const tile = page.locator(".tile-card").nth(3)
    await tile.getByRole("button").focus()
    await page.keyboard.press("Enter")
    await tile.getByText("In cart").waitFor()
    await expect.poll(() => focused(page)).toMatch(/^LI .*In cart/)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("A In cart")
  })

  it("moves to the next row after a row is removed, but not to the Remove button of the next row", async () => {
    const owner = await register(service)
    await service.register("🐢🎱", owner)
    const insert = ["one", "two", "three"].map((data) => ({ tag: "0x5001", data }))
    await service.edit("🐢🎱", owner, { insert })
    const hash = `#/ids/${encodeURIComponent("🐢🎱")}`
    const page = await openConsole(await browser.person(), service, owner, hash)
    const row = page.locator(".records > li", { hasText: "two" })
    await row.getByRole("button", { name: "Remove" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).focus()
    await page.keyboard.press("Enter")
    await row.waitFor({ state: "detached" })
    await expect.poll(() => focused(page)).toMatch(/^LI .*three/)
    await page.keyboard.press("Tab")
    expect(await focused(page)).toBe("BUTTON Change")
  })

  it("stays on the link to the cart when the cart changes elsewhere", async () => {
    const buyer = await register(service)
    const page = await openConsole(await browser.person(), service, buyer, "#/market")
    const link = page.getByRole("link", { name: /^Cart/ })
    await link.focus()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎰🐢" }] } })
    await link.getByText("1").waitFor()
    expect(await focused(page)).toMatch(/^A .*Cart/)
  })
})
