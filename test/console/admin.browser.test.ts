import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register, registerAdmin } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the console of an administrator", () => {
  it("shows what happens as a timeline", async () => {
    const admin = await registerAdmin(service)
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    const buyer = await service.user()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🌈🔥🌈" }] } })
    await page.getByRole("listitem").filter({ hasText: "cart.changed" }).first().waitFor()
    await page.getByLabel("Show").selectOption("emoji_id")
    await service.register("🔥🌈🔥", buyer)
    await page.getByRole("listitem").filter({ hasText: "emoji_id.registered" }).waitFor()
    expect(await page.getByRole("listitem").filter({ hasText: "cart.changed" }).count()).toBe(0)
  })

  it("finds what is rare among very much else", async () => {
    const admin = await registerAdmin(service)
    await service.sql`insert into event (channel, "offset", type, data, at)
                      values ('lootbox:x', 1, 'lootbox.lost', '{}', now() - interval '1 day')`
    await service.sql`insert into event (channel, "offset", type, data)
                      select 'cart:x', n, 'cart.changed', '{}' from generate_series(1, 25000) n`
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    await page.getByLabel("Show").selectOption("lootbox")
    await page.getByRole("listitem").filter({ hasText: "lootbox.lost" }).waitFor()
    await page.getByRole("button", { name: "Earlier" }).waitFor({ state: "detached" })
  })

  it("shows only the events that were asked for, also when others were on their way", async () => {
    const admin = await registerAdmin(service)
    const buyer = await service.user()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🌈🎲🌈" }] } })
    await service.register("🎲🌈🎲", buyer)
    const context = await browser.person()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const looked = new Promise<void>((resolve) =>
      context.route(/admin\/events\?limit=50&after=/, async (route) => {
        resolve()
        await released
        await route.continue()
      }),
    )
    const page = await openConsole(context, service, admin, "#/admin/events")
    await page.getByRole("listitem").filter({ hasText: "cart.changed" }).first().waitFor()
    await looked
    await page.getByLabel("Show").selectOption("emoji_id")
    release()
    await page
      .getByRole("listitem")
      .filter({ hasText: "cart.changed" })
      .first()
      .waitFor({ state: "detached" })
    await page.getByRole("listitem").filter({ hasText: "emoji_id.registered" }).first().waitFor()
  })

  it("shows all events without a hole, however far back somebody goes while others happen", async () => {
    const admin = await registerAdmin(service)
    await service.sql`insert into event (channel, "offset", type, data, at)
                      select 'interests:x', n, 'interest.told', jsonb_build_object('n', n), now() - interval '1 hour' * (700 - n)
                        from generate_series(1, 620) n`
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    await page.getByLabel("Show").selectOption("interest")
    const entries = page.locator(".event")
    const earlier = page.getByRole("button", { name: "Earlier" })
    await entries.filter({ hasText: /n 620$/ }).waitFor()
    for (let shown = 50; shown <= 550; shown += 50) {
      await expect.poll(() => entries.count()).toBe(shown)
      await earlier.click()
    }
    await expect.poll(() => entries.count()).toBe(600)
    await service.sql`insert into event (channel, "offset", type, data) values ('interests:x', 621, 'interest.told', '{"n": 621}')`
    await entries.filter({ hasText: /n 621$/ }).waitFor()
    await earlier.click()
    await entries.filter({ hasText: /n 1$/ }).waitFor()
    const told = (await entries.allTextContents()).map((text) => Number(/n (\d+)$/.exec(text)?.[1]))
    expect(told).toEqual(Array.from({ length: 621 }, (_, i) => 621 - i))
  })

  it("makes a code and a box, and a buyer finds what is in the box", async () => {
    const admin = await registerAdmin(service)
    const buyer = await register(service)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🌈🐢" }] } })
    const shop = await openConsole(await browser.person(), service, buyer, "#/boxes")
    const page = await openConsole(await browser.person(), service, admin, "#/admin/codes")
    await page.getByLabel("Name").fill("Spring")
    await page.getByLabel("What people type").fill("SPRING")
    await page.getByLabel("Percent off").fill("100")
    await page.getByRole("button", { name: "Make the code" }).click()
    await page.getByText("100 % off").waitFor()

    await page.getByRole("link", { name: "Boxes" }).last().click()
    const typeForm = page.getByRole("form", { name: "New type of box" })
    await typeForm.getByLabel("Name").fill("Lucky dip")
    await typeForm.getByLabel("Description").fill("Three ids")
    await typeForm.getByRole("button", { name: "Make the type" }).click()
    await page.getByLabel("How many").fill("1")
    await page.getByRole("button", { name: "Fill boxes" }).click()
    await page.getByRole("button", { name: "Put on sale" }).click()
    await page.getByText("Available").waitFor()

    await shop.getByRole("link", { name: "Market" }).click()
    await shop.getByRole("link", { name: "Boxes" }).click()
    await shop.getByRole("button", { name: "Add to cart", exact: true }).click()
    await shop.getByRole("link", { name: "In the cart" }).click()
    const popup = shop.waitForEvent("popup")
    await shop.getByRole("button", { name: /by card$/ }).click()
    await (await popup).close()
    await shop.getByLabel("Promo code").fill("SPRING")
    await shop.getByRole("button", { name: "Apply" }).click()
    await shop.getByText("The code was applied.").waitFor()
    const checkout = shop.waitForEvent("popup")
    await shop.getByRole("link", { name: /^Pay \$/ }).click()
    await (await checkout).getByRole("button", { name: /^Pay / }).first().click()
    await shop.locator(".order", { hasText: "Paid" }).waitFor()
    await shop.getByRole("link", { name: "Boxes" }).click()
    await shop.getByRole("button", { name: "Open it" }).click()
    const prizes = shop.getByRole("dialog").getByRole("listitem")
    await prizes.first().waitFor()
    const { body: owned } = await service.call("GET", "/emoji_id", { token: buyer.token })
    expect([...(await prizes.allTextContents()), "🐢🌈🐢"].toSorted()).toEqual(owned.toSorted())
  })

  it("stays on the page of a list where something was done, and says when one cannot be read", async () => {
    const admin = await registerAdmin(service)
    for (let made = 0; made < 25; made++) {
      const body = { name: "n", code_type: "Discount", discount_in_cents: 1, redemption_code: `PAGE-${made}` }
      await service.call("POST", "/codes", { token: admin.token, body })
    }
    const context = await browser.person()
    const page = await openConsole(context, service, admin, "#/admin/codes")
    await page.getByRole("button", { name: "Older" }).click()
    const row = page.getByRole("row", { name: "PAGE-0 " })
    await row.getByRole("button", { name: "Withdraw" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Withdraw" }).click()
    await row.getByText("Withdrawn").waitFor()
    await context.route("**/codes?*", (route) =>
      route.fulfill({ status: 503, json: { error: "The service is busy." } }),
    )
    await page.getByRole("button", { name: "Newer" }).click()
    await page.getByText("The service is busy.").waitFor()
  })

  it("shows what others have named at great length without pushing the buttons off the page", async () => {
    const [admin, sender] = [await registerAdmin(service), await register(service)]
    const email = `${"somebody".repeat(7)}@${"example".repeat(7)}.com`
    await service.call("POST", "/users", {
      body: { alternate_id: "device".repeat(20), password: "correct horse battery", source: "wallet" },
    })
    await service.register("🐢🎺🐢🎺🐢🎺", sender)
    const transfer = { eid: "🐢🎺🐢🎺🐢🎺", email }
    await service.call("POST", "/transfers", { token: sender.token, body: transfer })
    const redemption_code = "LONG".repeat(16)
    const code = { name: "n".repeat(200), code_type: "Discount", discount_in_cents: 1, redemption_code }
    await service.call("POST", "/codes", { token: admin.token, body: code })
    const page = await openConsole(await browser.person(), service, admin, "#/admin/users")
    const widest = () => page.evaluate(() => document.documentElement.scrollWidth)
    for (const [view, shown] of [
      ["users", "devicedevice"],
      ["transfers", "somebodysomebody"],
      ["codes", redemption_code],
    ] as const) {
      await page.goto(`${service.url}/#/admin/${view}`)
      await page.getByText(shown).first().waitFor()
      for (const width of [1280, 700]) {
        await page.setViewportSize({ width, height: 900 })
        expect([view, await widest()]).toEqual([view, width])
      }
    }
  })
})
