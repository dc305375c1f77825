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
  // As one of several processes: what is changed behind the service's back is then seen by it.
  { peersPossible: true },
)
const browser = await openBrowser()

/** A way to the service on which the next answer to a request that begins so breaks off in its middle. */
const badWay = async () => {
  let lost = ""
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    let isDoomed = false
    near.on("data", (said) => {
      isDoomed ||= lost !== "" && said.toString("latin1").startsWith(lost)
      far.write(said)
    })
    far.on("data", (answer: Buffer) => {
      if (!isDoomed) return near.write(answer)
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

describe.skipIf(executable === undefined)("the console on a bad network", () => {
  it("keeps the login when an answer breaks off", async () => {
    const person = await register(service)
    const way = await badWay()
    const page = await openConsole(await browser.person(), { ...service, url: way.url }, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    way.loseAnswerTo("GET /account ")
    await page.reload()
    await page.getByText("The service cannot be reached. Try again.").first().waitFor()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem("console-tokens"))).not.toBeNull()
  })

  it("does not wait for ever for an answer that does not come", async () => {
    const buyer = await register(service)
    const context = await browser.person()
    await context.clock.install()
    const page = await openConsole(context, service, buyer, "#/cart")
    await page.getByText("The cart is empty.").waitFor()
    let asked = 0
    await context.route("**/cart", (route) => (++asked === 1 ? undefined : route.continue()))
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎷🐢" }] } })
    await expect.poll(() => asked).toBe(1)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎸🐢" }] } })
    await page.clock.runFor(60_000)
    await page.locator(".cart-item", { hasText: "🐢🎸🐢" }).waitFor()
  })

  it("renews a token when it ends by the clock of the service, however wrong its own is", async () => {
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

  it("goes on after a reload although a slow clock of its own hides that the token has ended", async () => {
    const person = await register(service)
    const claims = JSON.stringify({ exp: Math.floor(Date.now() / 1000) - 60, sub: person.id })
    const ended = person.tokens.access_token.replace(/\.[^.]+\./, `.${btoa(claims).replaceAll("=", "")}.`)
    const context = await browser.person()
    await context.clock.install({ time: Date.now() - 3_600_000 })
    const tokens = { ...person.tokens, access_token: ended }
    const page = await openConsole(context, service, { ...person, tokens }, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  })
  it.each([0, 1])("goes on after a code whose answer was lost, with a code %i steps later", async (steps) => {
    const person = await register(service)
    const { secret } = await turnOnTotp(service, person.token)
    const way = await badWay()
    const page = await openConsole(
      await browser.person(),
      { ...service, url: way.url },
      undefined,
      "#/sign-in",
    )
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    const code = page.getByLabel("Code from your authenticator app")
    await code.fill(totpCode(secret))
    way.loseAnswerTo("POST /auth/2fa ")
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("alert").filter({ hasText: "The service cannot be reached." }).waitFor()
    // Nobody who has used a login twice by now is let in.
    await service.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}', '1')
      where kind = 'session' and owner_id = ${person.id}`
    if (steps > 0) await code.fill(totpCode(secret, steps))
    await page.getByRole("button", { name: "Continue" }).click()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
  })

  it("makes a key once, and shows it, though the answer was lost and the button clicked again", async () => {
    const person = await register(service)
    const way = await badWay()
    const page = await openConsole(
      await browser.person(),
      { ...service, url: way.url },
      person,
      "#/account/keys",
    )
    const make = page.getByRole("button", { name: "Make the key" })
    await page.getByLabel("Name").fill("shop")
    await page.getByRole("checkbox").first().check()
    way.loseAnswerTo("POST /api_keys ")
    await make.click()
    await page.getByText("The service cannot be reached. Try again.").waitFor()
    await make.click()
    await page.getByText("Copy it now; it is shown this once.").waitFor()
    const { body: keys } = await service.call("GET", "/api_keys", { token: person.token })
    expect(keys).toHaveLength(1)
  })

  it("books a payment once, by its reference, though another tab sends it again", async () => {
    const [admin, buyer] = [await registerAdmin(service), await register(service)]
    const as = { token: buyer.token }
    await service.call("POST", "/cart", { ...as, body: { items: [{ emoji_id: "🐢📡🐢" }] } })
    const body = { method: "CryptoCommerce" }
    const { body: order } = await service.call("POST", "/cart/checkout", { ...as, body })
    const way = await badWay()
    const book = async () => {
      const there = { ...service, url: way.url }
      const page = await openConsole(await browser.person(), there, admin, `#/admin/orders/${buyer.id}`)
      await page.getByText("Book a payment").click()
      await page.getByLabel("Dollars").fill("1")
      await page.getByLabel("Reference").fill("an envelope")
      await page.getByRole("button", { name: "Book it" }).click()
      return page
    }
    way.loseAnswerTo(`POST /orders/${order.id}/payment_override `)
    await (await book()).getByText("The service cannot be reached. Try again.").waitFor()
    await (await book()).getByText("The payment was booked.").waitFor()
    const { body: after } = await service.call("GET", `/orders/${order.id}`, as)
    expect(after.remaining_due_in_cents).toBe(order.remaining_due_in_cents - 100)
  })
})
