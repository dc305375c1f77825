import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { describe, expect, it } from "vitest"
import { totpCode, turnOnTotp } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { openConsole, password, register, registerAdmin } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory(
  { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` },
  // This option makes the service notice changes that the test makes directly in the database.
  { peersPossible: true },
)
const browser = await openBrowser()

/**
 * A proxy to the service. After `loseAnswerTo`, it cuts off the response to the next request that starts with the
 * given text.
 */
const unreliableProxy = async () => {
  let lost = ""
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    let isCutOff = false
    near.on("data", (request) => {
      isCutOff ||= lost !== "" && request.toString("latin1").startsWith(lost)
      far.write(request)
    })
    far.on("data", (answer: Buffer) => {
      if (!isCutOff) return near.write(answer)
      lost = ""
      return near.end(answer.subarray(0, -1))
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => to.destroy())
      from.on("close", () => to.destroy())
    }
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanUp(() => void server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswerTo: (request: string) => {
      lost = request
    },
  }
}

describe.skipIf(executable === undefined)("the console on an unreliable network", () => {
  it("stays signed in when a response is cut off", async () => {
    const person = await register(service)
    const proxy = await unreliableProxy()
    const page = await openConsole(await browser.person(), { ...service, url: proxy.url }, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    proxy.loseAnswerTo("GET /account ")
    await page.reload()
    await page.getByText("The service cannot be reached. Try again.").first().waitFor()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem("console-tokens"))).not.toBeNull()
  })

  it("shows a new change of the cart after the request for an earlier change has timed out", async () => {
    const buyer = await register(service)
    const context = await browser.person()
    await context.clock.install()
    const page = await openConsole(context, service, buyer, "#/cart")
    await page.getByText("Your cart is empty.").waitFor()
    let requests = 0
    await context.route("**/cart", (route) => (++requests === 1 ? undefined : route.continue()))
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎷🐢" }] } })
    await expect.poll(() => requests).toBe(1)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎸🐢" }] } })
    await page.clock.runFor(60_000)
    await page.locator(".cart-item", { hasText: "🐢🎸🐢" }).waitFor()
  })

  it("refreshes the access token by the clock of the service if the local clock is one hour fast", async () => {
    const person = await register(service)
    const context = await browser.person()
    await context.clock.install({ time: Date.now() + 3_600_000 })
    let renewed = 0
    await context.route("**/auth/token/refresh", (route) => {
      renewed++
      return route.continue()
    })
    const page = await openConsole(context, service, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    for (let second = 0; second < 5; second++) {
      await page.clock.runFor(1000)
      await page.evaluate(() => fetch("/health").then((response) => response.text()))
    }
    expect(renewed).toBe(1)
    await page.clock.runFor(900_000)
    await expect.poll(() => renewed).toBe(2)
  })

  it("stays signed in if the stored access token has expired and the local clock is one hour slow", async () => {
    const person = await register(service)
    const claims = JSON.stringify({ exp: Math.floor(Date.now() / 1000) - 60, sub: person.id })
    const ended = person.tokens.access_token.replace(/\.[^.]+\./, `.${btoa(claims).replaceAll("=", "")}.`)
    const context = await browser.person()
    await context.clock.install({ time: Date.now() - 3_600_000 })
    const tokens = { ...person.tokens, access_token: ended }
    const page = await openConsole(context, service, { ...person, tokens }, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  })
  it.each([0, 1])(
    "signs in after the response to a two-factor code was lost, with a code that is %i time steps newer",
    async (steps) => {
      const person = await register(service)
      const { secret } = await turnOnTotp(service, person.token)
      const proxy = await unreliableProxy()
      const page = await openConsole(
        await browser.person(),
        { ...service, url: proxy.url },
        undefined,
        "#/sign-in",
      )
      await page.getByLabel("Email").fill(person.email)
      await page.getByRole("textbox", { name: "Password" }).fill(password)
      await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
      const code = page.getByLabel("Code from your authenticator app")
      await code.fill(totpCode(secret))
      proxy.loseAnswerTo("POST /auth/2fa ")
      await page.getByRole("button", { name: "Continue" }).click()
      await page.getByRole("alert").filter({ hasText: "The service cannot be reached." }).waitFor()
      // After this update, the service rejects a refresh token that is used a second time.
      await service.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}', '1')
      where kind = 'session' and owner_id = ${person.id}`
      if (steps > 0) await code.fill(totpCode(secret, steps))
      await page.getByRole("button", { name: "Continue" }).click()
      await page.getByRole("button", { name: "Sign out" }).waitFor()
    },
  )

  it("creates only one API key when the response is lost and the user retries", async () => {
    const person = await register(service)
    const proxy = await unreliableProxy()
    const page = await openConsole(
      await browser.person(),
      { ...service, url: proxy.url },
      person,
      "#/account/keys",
    )
    const make = page.getByRole("button", { name: "Create key" })
    await page.getByLabel("Name", { exact: true }).fill("shop")
    await page.getByRole("checkbox").first().check()
    proxy.loseAnswerTo("POST /api_keys ")
    await make.click()
    await page.getByText("The service cannot be reached. Try again.").waitFor()
    await make.click()
    await page.getByText("It is not shown again.").waitFor()
    const { body: keys } = await service.call("GET", "/api_keys", { token: person.token })
    expect(keys).toHaveLength(1)
  })

  it("records a payment only once when the same payment reference is entered again in another tab", async () => {
    const [admin, buyer] = [await registerAdmin(service), await register(service)]
    const as = { token: buyer.token }
    await service.call("POST", "/cart", { ...as, body: { items: [{ emoji_id: "🐢📡🐢" }] } })
    const body = { method: "CryptoCommerce" }
    const { body: order } = await service.call("POST", "/cart/checkout", { ...as, body })
    const proxy = await unreliableProxy()
    const recordPayment = async () => {
      const viaProxy = { ...service, url: proxy.url }
      const page = await openConsole(await browser.person(), viaProxy, admin, `#/admin/orders/${buyer.id}`)
      await page.getByText("Record a payment").click()
      await page.getByLabel("Amount in US dollars").fill("1")
      await page.getByLabel("Reference").fill("an envelope")
      await page.getByRole("button", { name: "Record payment" }).click()
      return page
    }
    proxy.loseAnswerTo(`POST /orders/${order.id}/payment_override `)
    await (await recordPayment()).getByText("The service cannot be reached. Try again.").waitFor()
    await (await recordPayment()).getByText("The payment was recorded.").waitFor()
    const { body: after } = await service.call("GET", `/orders/${order.id}`, as)
    expect(after.remaining_due_in_cents).toBe(order.remaining_due_in_cents - 100)
  })
})
