import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { atSandbox } from "../orders/shopper.ts"
import { openConsole, register, registerAdmin } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

describe.skipIf(executable === undefined)("the admin view of the console", () => {
  it("shows the sales, open holds and connections on the overview, also as a table", async () => {
    const admin = await registerAdmin(service)
    const { token } = await service.user()
    const buy = async (emoji_id: string) => {
      await service.call("POST", "/cart", { token, body: { items: [{ emoji_id }] } })
      const body = { method: "CryptoCommerce" }
      return (await service.call("POST", "/cart/checkout", { token, body })).body
    }
    const paid = await buy("🎯🌈🎯")
    await atSandbox(service, paid.payment_method_data.session_id, "pay")
    const owned = async () => (await service.call("GET", "/emoji_id", { token })).body
    await expect.poll(owned).toContain("🎯🌈🎯")
    await buy("🎯🎳🎯")
    const price = `$${(paid.total_in_cents / 100).toFixed(2)}`

    const page = await openConsole(await browser.person(), service, admin, "#/admin")
    const figure = (name: string) => page.locator(".figure", { hasText: name })
    await figure("Today").getByText(price).waitFor()
    await figure("Today").getByText("1 order").waitFor()
    await figure("Open holds").getByText("1", { exact: true }).waitFor()
    expect(await figure("Live connections").locator("strong").textContent()).toMatch(/^[1-9]\d*$/)
    await page.getByRole("img", { name: `Sales per day. ${price} in 30 days` }).waitFor()
    await page.getByText("Show as a table").first().click()
    await page.getByRole("row").filter({ hasText: price }).waitFor()
    const other = await service.call("GET", "/admin/figures", { token })
    expect([other.status, other.body.scope]).toEqual([403, "domainEvent:read"])
  })

  it("shows the effect of new prices on example ids before they are saved, and refuses falling prices", async () => {
    const admin = await registerAdmin(service)
    const page = await openConsole(await browser.person(), service, admin, "#/admin/prices")
    const prices = async () => (await service.call("GET", "/price_parameters", { token: admin.token })).body
    const before = await prices()
    const last = page.getByRole("group", { name: `Price point ${before.points.length}` })
    const row = page.getByRole("row").filter({ hasText: /^🔥1100/ })
    await row.getByText("No change").waitFor()
    await last.getByLabel("Price in $").fill("1")
    await page.getByText(/must not be lower than the one before it/).waitFor()
    await last.getByLabel("Price in $").fill("7777")
    await row.getByText("$7,777.00").waitFor()
    await page.getByLabel("Ids with 6 emoji").selectOption("Coming soon")
    await page.getByRole("row").filter({ hasText: "🐢🎺🌵🚪🎲🌊" }).getByText("Not for sale").waitFor()
    expect(await prices()).toEqual(before)
    await page.getByRole("button", { name: "Save prices" }).click()
    const dialog = page.getByRole("dialog", { name: "Replace the prices of all ids?" })
    await dialog.getByRole("button", { name: "Save prices" }).click()
    await page.getByText("The new prices were saved.").waitFor()
    const after = await prices()
    expect([after.points.at(-1).price_in_cents, after.coming_soon_lengths]).toEqual([777_700, [6]])
    await service.call("PUT", "/price_parameters", { token: admin.token, body: before })
  })

  it("shows notices where they cover neither the focused field nor the button of its form", async () => {
    const admin = await registerAdmin(service)
    const page = await openConsole(await browser.person(), service, admin, "#/admin/codes")
    const form = page.getByRole("form", { name: "New discount code" })
    const toast = page.locator(".toast")
    await form.getByLabel("Name").fill("Notice")
    await form.getByLabel("Redemption code").fill("NOTICE")
    await form.getByRole("button", { name: "Create code" }).click()
    await toast.waitFor()
    const fields = await form.locator("input").all()
    for (const control of [...fields, form.getByRole("button", { name: "Create code" })]) {
      await control.focus()
      await control.scrollIntoViewIfNeeded()
      const box = await page.locator("#notices").boundingBox()
      expect(box?.height).toBeGreaterThan(0)
      const covered = () =>
        page.evaluate(() => {
          const rectOf = (element: Element) => element.getBoundingClientRect()
          const notices = rectOf(document.querySelector("#notices")!)
          const focused = document.activeElement!
          const submit = focused.closest("form")!.querySelector("button:not([type=button])")!
          return [focused, submit]
            .map(rectOf)
            .some(({ bottom, top }) => top < notices.bottom && bottom > notices.top)
        })
      await expect.poll(covered).toBe(false)
    }
    await toast.getByRole("button", { name: "Dismiss" }).click()
    await toast.waitFor({ state: "detached" })
  })

  it("adds new events to the timeline, and filters events by kind", async () => {
    const admin = await registerAdmin(service)
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    const buyer = await service.user()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🌈🔥🌈" }] } })
    await page.getByRole("listitem").filter({ hasText: "cart.changed" }).first().waitFor()
    await page.getByLabel("Show").selectOption("emoji_id")
    await service.register("🔥🌈🔥", buyer)
    await page.getByRole("listitem").filter({ hasText: "emoji_id.registered" }).waitFor()
    expect(await page.getByRole("listitem").filter({ hasText: "cart.changed" }).count()).toBe(0)
    await page.getByText("🔥🌈🔥 was registered.").waitFor()
    await page.getByLabel("Show").selectOption("interest")
    await page.getByText("No events of the kind “Interests” yet.").waitFor()
  })

  it("refunds an order with or without releasing its ids", async () => {
    const admin = await registerAdmin(service)
    const buyer = await service.user()
    const token = buyer.token
    const owned = async () => (await service.call("GET", "/emoji_id", { token })).body
    for (const emoji_id of ["🌈🎯🌈", "🌈🎳🌈"]) {
      await service.call("POST", "/cart", { token, body: { items: [{ emoji_id }] } })
      const { body: order } = await service.call("POST", "/cart/checkout", {
        token,
        body: { method: "CryptoCommerce" },
      })
      await atSandbox(service, order.payment_method_data.session_id, "pay")
      await expect.poll(owned).toContain(emoji_id)
    }
    const page = await openConsole(await browser.person(), service, admin, `#/admin/orders/${buyer.id}`)
    const refund = async (id: string, name: string) => {
      const row = page.getByRole("row").filter({ hasText: id })
      await row.getByRole("button", { name, exact: true }).click()
      await page.getByRole("dialog").getByRole("button", { name, exact: true }).click()
      await row.getByRole("button", { name, exact: true }).waitFor({ state: "detached" })
    }
    await refund("🌈🎯🌈", "Refund, keep ids")
    await refund("🌈🎳🌈", "Refund")
    expect(await owned()).toEqual(["🌈🎯🌈"])
  })

  it("finds a rare event among many events of other kinds", async () => {
    const admin = await registerAdmin(service)
    await service.sql`insert into event (channel, "offset", type, data, at)
                      values ('lootbox:x', 1, 'lootbox.lost', '{}', now() - interval '1 day')`
    await service.sql`insert into event (channel, "offset", type, data)
                      select 'cart:x', n, 'cart.changed', '{}' from generate_series(1, 25000) n`
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    await page.getByLabel("Show").selectOption("lootbox")
    await page.getByRole("listitem").filter({ hasText: "lootbox.lost" }).waitFor()
    await page.getByRole("button", { name: "Older events" }).waitFor({ state: "detached" })
  })

  it("shows only events of the selected kind, even if an earlier request for all kinds finishes later", async () => {
    const admin = await registerAdmin(service)
    const buyer = await service.user()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🌈🎲🌈" }] } })
    await service.register("🎲🌈🎲", buyer)
    const context = await browser.person()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const requested = new Promise<void>((resolve) =>
      context.route(/admin\/events\?limit=50&after=/, async (route) => {
        resolve()
        await released
        await route.continue()
      }),
    )
    const page = await openConsole(context, service, admin, "#/admin/events")
    await page.getByRole("listitem").filter({ hasText: "cart.changed" }).first().waitFor()
    await requested
    await page.getByLabel("Show").selectOption("emoji_id")
    release()
    await page
      .getByRole("listitem")
      .filter({ hasText: "cart.changed" })
      .first()
      .waitFor({ state: "detached" })
    await page.getByRole("listitem").filter({ hasText: "emoji_id.registered" }).first().waitFor()
  })

  it("shows all events without gaps while older pages are loaded and new events arrive", async () => {
    const admin = await registerAdmin(service)
    await service.sql`insert into event (channel, "offset", type, data, at)
                      select 'interests:x', n, 'interest.sent', jsonb_build_object('n', n), now() - interval '1 hour' * (700 - n)
                        from generate_series(1, 620) n`
    const page = await openConsole(await browser.person(), service, admin, "#/admin/events")
    await page.getByLabel("Show").selectOption("interest")
    const entries = page.locator(".event")
    const older = page.getByRole("button", { name: "Older events" })
    await entries.filter({ hasText: /"n": 620\n/ }).waitFor()
    // On a busy machine a request can fail. Then the button stays on the page and is pressed again.
    const loadOlderUntil = async (isDone: () => Promise<boolean>) => {
      while (!(await isDone())) await older.click({ timeout: 1000 }).catch(() => {})
    }
    await loadOlderUntil(async () => (await entries.count()) >= 300)
    await service.sql`insert into event (channel, "offset", type, data) values ('interests:x', 621, 'interest.sent', '{"n": 621}')`
    await entries.filter({ hasText: /"n": 621\n/ }).waitFor()
    await loadOlderUntil(async () => (await entries.filter({ hasText: /"n": 1\n/ }).count()) > 0)
    const numbers = (await entries.allTextContents()).map((text) => Number(/"n": (\d+)\n/.exec(text)?.[1]))
    expect(numbers).toEqual(Array.from({ length: 621 }, (_, i) => 621 - i))
  })

  it("creates a promo code and a lootbox, and a buyer can use the code and open the lootbox", async () => {
    const admin = await registerAdmin(service)
    const buyer = await register(service)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🌈🐢" }] } })
    const shop = await openConsole(await browser.person(), service, buyer, "#/boxes")
    const page = await openConsole(await browser.person(), service, admin, "#/admin/codes")
    await page.getByLabel("Name").fill("Spring")
    await page.getByLabel("Redemption code").fill("SPRING")
    await page.getByLabel("Percent off").fill("100")
    await page.getByRole("button", { name: "Create code" }).click()
    await page.getByText("100% off").waitFor()

    await page.getByRole("link", { name: "Boxes" }).last().click()
    const typeForm = page.getByRole("form", { name: "New lootbox type" })
    await typeForm.getByLabel("Name").fill("Lucky dip")
    await typeForm.getByLabel("Description").fill("Three ids")
    await typeForm.getByRole("button", { name: "Create type" }).click()
    await page.getByLabel("Quantity").fill("1")
    await page.getByRole("button", { name: "Generate lootboxes" }).click()
    await page.getByRole("button", { name: "Offer for sale" }).click()
    await page.getByText("Available").waitFor()

    await shop.getByRole("link", { name: "Market" }).click()
    await shop.getByRole("link", { name: "Boxes" }).click()
    await shop.getByRole("button", { name: "Add to cart", exact: true }).click()
    await shop.getByRole("link", { name: "In cart" }).click()
    await shop.getByLabel("Promo code").fill("SPRING")
    await shop.getByRole("button", { name: "Apply code and continue" }).click()
    await shop.getByRole("link", { name: /^Pay \$/ }).click()
    await shop.getByRole("button", { name: /^Pay \$/ }).click()
    await shop.getByRole("heading", { name: "Thank you. Your order is complete." }).waitFor()
    await shop.getByRole("link", { name: "Open it" }).click()
    await shop.getByRole("button", { name: "Open", exact: true }).click()
    const prizes = shop.getByRole("dialog").getByRole("listitem")
    await prizes.first().waitFor()
    const { body: owned } = await service.call("GET", "/emoji_id", { token: buyer.token })
    expect([...(await prizes.allTextContents()), "🐢🌈🐢"].toSorted()).toEqual(owned.toSorted())
  })

  it("shows the budgets of organizations and sets one, and shows an error for a deleted organization", async () => {
    const admin = await registerAdmin(service)
    const { body } = await service.call("POST", "/organizations", {
      token: admin.token,
      body: { name: "Budget Wallet" },
    })
    const page = await openConsole(await browser.person(), service, admin, "#/admin/codes")
    const row = page.getByRole("row", { name: "Budget Wallet" })
    await row.getByLabel("New budget in dollars").fill("25.50")
    await row.getByRole("button", { name: "Set" }).click()
    await page.getByText("The budget of Budget Wallet was set.").waitFor()
    await row.getByText("$25.50").first().waitFor()
    const budget = await service.call("GET", `/organizations/${body.id}/code_budget`, { token: admin.token })
    expect(budget.body).toMatchObject({ budget_in_cents: 2550, remaining_in_cents: 2550 })
    await service.call("DELETE", `/organizations/${body.id}`, { token: admin.token })
    await row.getByLabel("New budget in dollars").fill("1")
    await row.getByRole("button", { name: "Set" }).click()
    await row.getByText("Organization not found.").waitFor()
  })

  it("stays on the same page of a list after an action, and shows an error when a page cannot be loaded", async () => {
    const admin = await registerAdmin(service)
    for (let made = 0; made < 25; made++) {
      const body = { name: "n", code_type: "Discount", discount_in_cents: 1, redemption_code: `PAGE-${made}` }
      await service.call("POST", "/codes", { token: admin.token, body })
    }
    const context = await browser.person()
    const page = await openConsole(context, service, admin, "#/admin/codes")
    await page.getByRole("button", { name: "Older" }).click()
    const row = page.getByRole("row", { name: "PAGE-0 " })
    await row.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await row.getByText("Deleted").waitFor()
    await context.route("**/codes?*", (route) =>
      route.fulfill({ status: 503, json: { error: "The service is busy." } }),
    )
    await page.getByRole("button", { name: "Newer" }).click()
    await page.getByText("The service is busy.").waitFor()
  })

  it("fits the width of the screen even with very long names", async () => {
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
