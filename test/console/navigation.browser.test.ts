import { describe, expect, it } from "vitest"
import { mails, turnOnTotp } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

type ConsolePage = Awaited<ReturnType<typeof openConsole>>

const signIn = async (page: ConsolePage, email: string) => {
  await page.getByLabel("Email").fill(email)
  await page.getByLabel("Password", { exact: true }).fill(password)
  await page.keyboard.press("Enter")
}

describe.skipIf(executable === undefined)("the console during sign-in and navigation", () => {
  it("returns to the previous view with the back button, from the sign-in view and after the sign-in", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, undefined, "#/lookup")
    await page.getByRole("link", { name: "Cart" }).click()
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Look up an emoji id" }).waitFor()

    await page.getByRole("link", { name: "Cart" }).click()
    await signIn(page, person.email)
    await page.getByRole("heading", { name: "Cart", exact: true }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Look up an emoji id" }).waitFor()
  })

  it("skips the sign-in view when the user is signed in", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/sign-in")
    await page.getByRole("heading", { name: "Find an id to buy" }).waitFor()
  })

  it("shows that two-factor authentication is off after the user has entered a backup code", async () => {
    const person = await register(service)
    const { backupCodes } = await turnOnTotp(service, person.token)
    const page = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await signIn(page, person.email)
    await page.getByText("I lost my device").click()
    await page.getByLabel("Backup code").fill(backupCodes[0] ?? "")
    await page.keyboard.press("Enter")
    await page.getByLabel("Email").waitFor()
    await page.getByText("Two-factor authentication is off. Sign in again.").waitFor()
    await signIn(page, person.email)
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  })

  it("repeats a failed search when the user presses the Search button again", async () => {
    const person = await register(service)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/market")
    await context.route("**/emoji_id/search*", (route) => route.abort())
    await page.getByLabel("Search for an emoji id").fill("🐢🎲🐢")
    await page.getByRole("button", { name: "Search" }).click()
    await page.getByText("The service cannot be reached. Try again.").waitFor()
    await context.unroute("**/emoji_id/search*")
    await page.getByRole("button", { name: "Search" }).click()
    await page.getByRole("button", { name: "Add to cart: 🐢🎲🐢", exact: true }).waitFor()
  })

  it("is still signed in after the payment page redirects back to the console", async () => {
    const { token, ...person } = await register(service)
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🐢🎺🐢" }] } })
    const back = `${service.url}/#/cart`
    const body = { method: "CardCheckout", success_url: back, cancel_url: back }
    await service.call("POST", "/cart/checkout", { token, body })
    const page = await openConsole(await browser.person(), service, { token, ...person }, "#/cart")
    await page.getByRole("link", { name: /^Pay / }).click()
    await page.getByRole("button", { name: /^Pay \$/ }).click()
    await page.locator(".order", { hasText: "Paid" }).waitFor()
  })

  it("keeps the focus on a button whose action failed, so that Enter retries the action", async () => {
    const person = await register(service)
    await service.register("🐢🎻🐢", await register(service))
    const context = await browser.person()
    let showCart = () => {}
    const mayShowCart = new Promise<void>((resolve) => {
      showCart = resolve
    })
    await context.route("**/cart", async (route) => {
      await mayShowCart
      await route.continue()
    })
    const page = await openConsole(context, service, person, `#/market/${encodeURIComponent("🐢🎻🐢")}`)
    let refused = 0
    await context.route("**/user_interests", async (route) => {
      if (++refused > 1) return route.continue()
      // The response waits until the browser has drawn the disabled button.
      await page.evaluate(
        () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
      )
      return route.fulfill({ status: 503, json: { error: "Not now." } })
    })
    await page.getByRole("button", { name: "Notify me when available" }).focus()
    // The page redraws its buttons when the cart arrives.
    const arrived = page.waitForResponse("**/cart")
    showCart()
    await (await arrived).finished()
    await page.keyboard.press("Enter")
    await page.getByText("Not now.").waitFor()
    await page.keyboard.press("Enter")
    await page.getByText("You will be notified when 🐢🎻🐢 becomes available.").waitFor()
  })

  it("sends one SMS code at sign-in, and another code when the user presses the Resend button", async () => {
    const person = await register(service)
    const phone = "+14155550187"
    const setUp = { default: true, provider: "SMS", phone }
    await service.call("POST", "/account/2fa/enable", { token: person.token, body: setUp })
    const [{ code } = {}] = await mails(service, phone)
    await service.call("POST", "/account/2fa/confirm", { token: person.token, body: { code } })
    const page = await openConsole(await browser.person(), service, undefined, "#/sign-in")
    await signIn(page, person.email)
    const field = page.getByLabel("Code from the SMS")
    await field.fill("000000")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("alert").filter({ hasText: "code" }).waitFor()
    expect(await mails(service, phone)).toHaveLength(2)
    await page.getByRole("button", { name: "Resend code" }).click()
    await page.getByText("A code was sent to your phone.").waitFor()
    const [newest, ...before] = await mails(service, phone)
    expect(before).toHaveLength(2)
    await field.fill(newest?.code ?? "")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  })

  it("does not show a view that belongs to a newer release than the page, and loads the view when the user retries", async () => {
    const person = await register(service)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/market")
    // A newer release has another file for the view.
    const view = "**/assets/boxes-*"
    await context.route(view, (route) => route.fulfill({ status: 404, body: "{}" }))
    await page.getByRole("link", { name: "Boxes" }).click()
    await page.getByRole("button", { name: "Try again" }).waitFor()
    await context.unroute(view)
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByText("You have no lootboxes.").waitFor()
  })
})
