import { describe, expect, it } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { atSandbox, card } from "../orders/shopper.ts"
import { openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const registerBuyer = async (id: string) => {
  const buyer = await register(service)
  await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: id }] } })
  return buyer
}

describe.skipIf(executable === undefined)("the console at checkout", () => {
  it("asks for a two-factor code before it opens the payment page if the service requires a code", async () => {
    const buyer = await registerBuyer("🐢🎧🐢")
    const context = await browser.person()
    const page = await openConsole(context, service, buyer, "#/cart")
    let requests = 0
    await context.route("**/cart/checkout", (route) =>
      ++requests === 1
        ? route.fulfill({ status: 424, json: { error: "A fresh two-factor code is needed." } })
        : route.continue(),
    )
    await context.route("**/auth/2fa", (route) => route.fulfill({ json: buyer.tokens }))
    await page.getByRole("button", { name: /by card$/ }).click()
    const dialog = page.getByRole("dialog", { name: "Confirm your identity" })
    await dialog.getByLabel("Code").fill("123456")
    expect(page.url()).toContain("#/cart")
    await dialog.getByRole("button", { name: "Confirm" }).click()
    await page.waitForURL("**/sandbox/checkout/*")
    await page.getByText("Your order at the Emoji Id Directory").waitFor()
    expect(context.pages()).toEqual([page])
  })

  it("lets the buyer change the payment method of a pending order, while the time left to pay goes on", async () => {
    const buyer = await registerBuyer("🐢🎷🐢")
    const { body: order } = await service.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const change = page.getByRole("group", { name: "Change the payment method" })
    await change.getByRole("button", { name: "Pay with crypto instead" }).click()
    await page.getByText("Bitcoin").waitFor()
    await page.getByRole("link", { name: "Return without paying" }).click()
    await change.getByRole("button", { name: "Pay by card instead" }).waitFor()
    const { body } = await service.call("GET", "/cart", { token: buyer.token })
    expect([body.id, body.payment_method_data.method, body.expires_at]).toEqual([
      order.id,
      "CryptoCommerce",
      order.expires_at,
    ])
    const old = await page.context().newPage()
    await old.goto(order.payment_method_data.checkout_url)
    await old.getByText("This payment was replaced").waitFor()
    expect(await old.getByRole("button", { name: /^Pay/ }).count()).toBe(0)
  })

  it("asks to remove items that are no longer available instead of offering to pay", async () => {
    const [buyer, other] = [await registerBuyer("🐢🎰🐢"), await service.user()]
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎺🐢" }] } })
    await service.register("🐢🎰🐢", other)
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    await page.getByText("Remove the items that are no longer available").waitFor()
    expect(await page.getByRole("button", { name: /by card$/ }).count()).toBe(0)
    await page.getByRole("button", { name: "Remove 🐢🎰🐢 from the cart" }).click()
    await page.getByRole("button", { name: /by card$/ }).waitFor()
  })

  it("asks the user to confirm the email address before buying", async () => {
    const email = "unconfirmed@example.com"
    const { body: tokens } = await service.call("POST", "/users", { body: { email, password } })
    const token = tokens.access_token
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐢🎻🐢" }] } })
    const buyer = { id: "", email, token, tokens }
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    await page.getByRole("button", { name: /by card$/ }).click()
    const problem = page.getByRole("alert").filter({ hasText: "Confirm your email address before you buy." })
    await problem.waitFor()
  })

  it("offers a free checkout only while the user's free ids are enough for the whole cart", async () => {
    const buyer = await registerBuyer("🐢🎹🐢")
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const free = page.getByRole("button", { name: /^Get for free/ })
    await free.waitFor()
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🥁🐢" }] } })
    await page.locator(".cart-item").nth(1).waitFor()
    expect(await free.count()).toBe(0)
    await page.getByRole("button", { name: "Remove 🐢🥁🐢 from the cart" }).click()
    await free.waitFor()
  })

  it("connects the error with the promo code field for screen readers until a code is accepted", async () => {
    const buyer = await registerBuyer("🐢🎸🐢")
    await service.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const code = page.getByLabel("Promo code")
    const described = () =>
      code.evaluate((input) => {
        const ids = (input.getAttribute("aria-describedby") ?? "").split(" ")
        return ids.map((id) => document.getElementById(id)?.textContent ?? "").join(" ")
      })
    await code.fill("NO-SUCH-CODE")
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByRole("alert").filter({ hasText: /./ }).waitFor()
    expect(await described()).toMatch(/code/)
    expect(await code.evaluate((input) => document.activeElement === input)).toBe(true)
    await service.call("POST", "/codes", {
      token: service.admin.token,
      body: { name: "Tenth", code_type: "Discount", redemption_code: "TENTH", discount_as_percentage: 10 },
    })
    await code.fill("TENTH")
    await page.getByRole("button", { name: "Apply" }).click()
    await page.getByText("The code was applied.").waitFor()
    await expect.poll(described).toBe("")
  })

  it("applies a code of the draft before the payment, and after a wrong code asks again without an open payment", async () => {
    const buyer = await registerBuyer("🐢🎳🐢")
    await service.call("POST", "/codes", {
      token: service.admin.token,
      body: { name: "Half", code_type: "Discount", redemption_code: "HALF", discount_as_percentage: 50 },
    })
    const { body: draft } = await service.call("GET", "/cart", { token: buyer.token })
    const discount = Math.round(draft.total_in_cents / 2)
    const [off, due] = [discount, draft.total_in_cents - discount].map(
      (cents) => `$${(cents / 100).toFixed(2)}`,
    )
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const code = page.getByLabel("Promo code")
    const next = page.getByRole("button", { name: "Apply code and continue" })
    await code.fill("WRONG")
    await next.click()
    await page.getByRole("alert").filter({ hasText: "Unknown code." }).waitFor()
    expect(await code.getAttribute("aria-invalid")).toBe("true")
    expect(await code.inputValue()).toBe("WRONG")
    const { body: after } = await service.call("GET", "/cart", { token: buyer.token })
    expect([after.status, after.payment_method_data]).toEqual(["Draft", undefined])

    await code.fill("HALF")
    await page.getByLabel("Cryptocurrency").check()
    await next.click()
    await page.getByRole("heading", { name: "Checkout" }).waitFor()
    await page.getByText(`Discount-${off}`).waitFor()
    await page.getByRole("link", { name: `Pay ${due} with crypto` }).click()
    await page.getByRole("button", { name: `Pay ${due}` }).click()
    await page.getByRole("heading", { name: "Thank you. Your order is complete." }).waitFor()

    await page.getByRole("link", { name: "Receipt" }).click()
    await page.getByRole("heading", { name: "Receipt" }).waitFor()
    await page.getByText(buyer.email).last().waitFor()
    await page.getByRole("link", { name: "← Order" }).click()
    await page.getByRole("heading", { name: `Order ${draft.order_number}` }).waitFor()
  })

  it("shows the paid and the remaining amount of a partly paid cart", async () => {
    const buyer = await registerBuyer("🐢🎤🐢")
    const pending = await service.call("POST", "/cart/checkout", { token: buyer.token, body: card })
    const due = pending.body.remaining_due_in_cents
    await atSandbox(service, pending.body.payment_method_data.session_id, "underpay")
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`
    const paid = Math.floor(due / 2)
    await page.getByText(`${dollars(paid)} paid, remaining amount ${dollars(due - paid)}`).waitFor()

    // The paid amount stays with the cart when the cart becomes a draft again.
    await service.call("POST", "/cart/convert_to_draft", { token: buyer.token })
    await page.getByRole("button", { name: `Pay ${dollars(due - paid)} by card` }).waitFor()
  })
})

describe.skipIf(executable === undefined)("the console in production", { timeout: 60_000 }, () => {
  const openCart = async (settings: Record<string, string>) => {
    const own = await freePort()
    const production = await serveDirectory({
      NODE_ENV: "production",
      RATE_LIMIT: "on",
      PORT: String(own),
      BASE_URL: `http://127.0.0.1:${own}`,
      ...settings,
    })
    const buyer = await register(production)
    const body = { items: [{ emoji_id: "🐢🎸🐢" }] }
    await production.call("POST", "/cart", { token: buyer.token, body })
    const page = await openConsole(await browser.person(), production, buyer, "#/cart")
    await page.locator(".cart-item").waitFor()
    return page
  }

  it("shows that card payments are not configured, and still offers a free checkout", async () => {
    const page = await openCart({})
    await page.getByText("Card payments are not configured on this server.").waitFor()
    expect(await page.getByRole("button", { name: /by card$/ }).count()).toBe(0)
    await page.getByRole("button", { name: /^Get for free/ }).click()
    await page.getByRole("heading", { name: "Thank you. Your order is complete." }).waitFor()
    await page.getByRole("link", { name: "View 🐢🎸🐢" }).waitFor()
  })

  it("shows the notice about test payments in the cart and in the market if PAYMENTS is `sandbox`", async () => {
    const page = await openCart({ PAYMENTS: "sandbox" })
    const notice = page.getByText("Test payments: no real money is charged.")
    expect(await notice.isVisible()).toBe(true)
    expect(await page.getByRole("button", { name: /by card$/ }).isVisible()).toBe(true)
    await page.goto(page.url().replace("#/cart", "#/market"))
    await page.getByRole("heading", { name: "Find an id to buy" }).waitFor()
    expect(await notice.isVisible()).toBe(true)
  })
})
