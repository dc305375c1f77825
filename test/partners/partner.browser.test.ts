import { describe, expect, it } from "vitest"
import { bitcoin, ethereum, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { newestMailLink } from "../sign-in/oauth/application.ts"
import { addressJson, makePartner, makeWalletUser } from "./partner.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()
const partner = await makePartner(service)

const recordsOf = async (id: string): Promise<ReadonlyArray<{ tag: string; data: string }>> =>
  (await service.lookup(id)).body.result

describe.skipIf(executable === undefined)("the user of a partner wallet", () => {
  it("finds an id, gets the id for free with the addresses of the wallet, and returns to the wallet", async () => {
    const user = await makeWalletUser(service, "device-1")
    const page = await (await browser.person()).newPage()
    const query = new URLSearchParams({
      refresh_token: user.refresh,
      addresses: `0x1003=${bitcoin}`,
      address_json: addressJson([{ "4100": `${ethereum}|Octo savings` }]),
    })
    await page.goto(`${partner.home}?${query}`)
    expect(page.url()).toBe(partner.home)
    await page.getByText("Octo savings").waitFor()
    await page.getByLabel("Search for an emoji id").fill("🐙🌊🐙")
    await page.getByRole("button", { name: "Search" }).click()
    await page.getByText("Available", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Add to cart" }).click()
    await page.getByRole("heading", { name: "Your cart" }).waitFor()
    await page.getByRole("button", { name: "Get it for free" }).click()
    await page.getByRole("heading", { name: "Back in the wallet" }).waitFor()
    expect(Object.fromEntries(partner.returns.at(-1)!)).toEqual({
      from: "directory",
      action: "create",
      eid: "🐙🌊🐙",
      eids: "🐙🌊🐙",
      refresh_token: user.refresh,
    })
    const records = await recordsOf("🐙🌊🐙")
    expect(records).toContainEqual(expect.objectContaining({ tag: "0x1003", data: bitcoin }))
    expect(records).toContainEqual(
      expect.objectContaining({ tag: "0x1004", data: `${ethereum.slice(2).toLowerCase()}|Octo savings` }),
    )
    // The refresh token of the wallet is still valid, because no page has used it.
    const refreshed = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: user.refresh },
    })
    expect(refreshed.status).toBe(200)
  })

  it("picks an id emoji by emoji and pays for the id in the payment sandbox", async () => {
    const user = await makeWalletUser(service, "device-2")
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const page = await (await browser.person()).newPage()
    const sent = new URLSearchParams({ refresh_token: user.refresh, addresses: `0x1003=${otherBitcoin}` })
    await page.goto(`${partner.home}?${sent}`)
    await page.getByText("Pick emoji one by one").click()
    for (const emoji of ["🔥", "🎲", "🔥", "👑"]) await page.locator(`button.key[value="${emoji}"]`).click()
    await page.getByRole("button", { name: "Add to cart" }).click()
    await page.getByRole("button", { name: "Pay by card" }).click()
    await page.getByText("Play money").waitFor()
    await page.getByRole("button", { name: /^Pay \$/ }).click()
    await page.getByRole("heading", { name: "Back in the wallet" }).waitFor()
    expect(partner.returns.at(-1)?.get("eid")).toBe("🔥🎲🔥👑")
    expect(await recordsOf("🔥🎲🔥👑")).toContainEqual(expect.objectContaining({ data: otherBitcoin }))
  })

  it("pays in a popup window, and the wallet's page keeps access to the window", async () => {
    const user = await makeWalletUser(service, "device-7")
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const page = await (await browser.person()).newPage()
    await page.goto(partner.origin)
    const opened = page.waitForEvent("popup")
    const home = `${partner.home}?${new URLSearchParams({ refresh_token: user.refresh })}`
    await page.evaluate((address) => void Object.assign(window, { flow: window.open(address) }), home)
    const flow = await opened
    await flow.getByLabel("Search for an emoji id").fill("🌵🎲🌵👑")
    await flow.getByRole("button", { name: "Search" }).click()
    await flow.getByRole("button", { name: "Add to cart" }).click()
    await flow.getByRole("button", { name: "Pay by card" }).click()
    await flow.getByRole("button", { name: /^Pay \$/ }).click()
    await flow.getByRole("heading", { name: "Back in the wallet" }).waitFor()
    expect(await page.evaluate("flow.closed")).toBe(false)
    expect(await flow.evaluate("opener.location.origin")).toBe(partner.origin)
  })

  it("connects an id of another account after a login by email link", async () => {
    const owner = await service.user()
    await service.register("🚀🚀", owner)
    await service.register("💎👑", owner)
    const user = await makeWalletUser(service, "device-3")
    const page = await (await browser.person()).newPage()
    const sent = new URLSearchParams({ refresh_token: user.refresh, addresses: `0x1003=${bitcoin}` })
    await page.goto(`${partner.home}/link-email?${sent}`)
    expect(page.url()).toBe(`${partner.home}/link-email`)
    await page.getByLabel("Your email address").fill(owner.email)
    await page.getByRole("button", { name: "Email me a link" }).click()
    await page.getByRole("heading", { name: "Check your email" }).waitFor()
    await page.goto(await newestMailLink(service, owner.email))
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.locator('button[value="💎👑"]').click()
    await page.getByText(bitcoin).waitFor()
    await page.getByRole("button", { name: "Connect 💎👑" }).click()
    await page.getByRole("heading", { name: "Back in the wallet" }).waitFor()
    expect(Object.fromEntries(partner.returns.at(-1)!)).toMatchObject({
      eid: "💎👑",
      refresh_token: user.refresh,
    })
    expect(await recordsOf("💎👑")).toContainEqual(expect.objectContaining({ data: bitcoin }))
  })

  it("adds and removes an address of an id, and sees an error if the address is invalid", async () => {
    const user = await makeWalletUser(service, "device-4")
    await service.register("🌵🌵", user)
    const page = await (await browser.person()).newPage()
    await page.goto(`${partner.home}/manage?${new URLSearchParams({ refresh_token: user.refresh })}`)
    await page.getByText("No records yet.").waitFor()
    await page.getByLabel("Type").selectOption({ label: "BTC" })
    await page.getByLabel("Address or text").fill("not an address")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("alert").waitFor()
    await page.getByLabel("Address or text").fill(bitcoin)
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved.").waitFor()
    expect(await recordsOf("🌵🌵")).toContainEqual(expect.objectContaining({ data: bitcoin }))
    await page.getByRole("button", { name: `Remove BTC ${bitcoin}` }).click()
    await page.getByText("No records yet.").waitFor()
    expect(await recordsOf("🌵🌵")).not.toContainEqual(expect.objectContaining({ data: bitcoin }))
  })

  it("finds the price of an id and the name of a cart item in the labels for screen readers", async () => {
    const user = await makeWalletUser(service, "device-5")
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const page = await (await browser.person()).newPage()
    await page.goto(`${partner.home}?${new URLSearchParams({ refresh_token: user.refresh })}`)
    const tile = page.locator("button.tile").first()
    const price = (await tile.locator(".small").textContent()) ?? ""
    expect(price).toMatch(/^\$\d/)
    await page.getByRole("button", { name: price }).first().waitFor()
    const [, spoken] = /^(.*), \$/.exec((await tile.getAttribute("aria-label")) ?? "") ?? []
    await tile.click()
    await page.getByRole("button", { name: `Remove ${spoken}`, exact: true }).click()
    await page.getByRole("heading", { name: "Your cart" }).waitFor()
    expect(await page.locator("ul.cart li").count()).toBe(0)
  })

  it("sees ids of six emoji without horizontal scrolling on a small phone", async () => {
    const user = await makeWalletUser(service, "device-6")
    const [owned, wanted] = ["🐢🎹🐢🎹🐢🎹", "🐙🎈🎲🍀🐙🎲"]
    await service.register(owned, user)
    await service.register("🐢🎹🐢🎹🐢🎷", user)
    const page = await (await browser.person()).newPage()
    const sent = new URLSearchParams({ refresh_token: user.refresh })
    const sizeAt = async (width: number) => {
      await page.setViewportSize({ width, height: 640 })
      return page.evaluate(() => document.documentElement.scrollWidth)
    }
    const fits = async (what: string) =>
      expect([what, await sizeAt(320), await sizeAt(390), await sizeAt(480)]).toEqual([what, 320, 390, 480])
    await page.goto(`${partner.home}?${sent}`)
    await page.goto(`${partner.home}?${new URLSearchParams({ q: wanted })}`)
    await fits("search")
    await page.getByRole("button", { name: "Add to cart" }).click()
    await page.getByRole("heading", { name: "Your cart" }).waitFor()
    await fits("cart")
    await page.goto(`${partner.home}/manage?${sent}`)
    await fits("ids")
    await page.goto(`${partner.home}/manage?${new URLSearchParams({ id: owned })}`)
    await fits("records")
  })
})
