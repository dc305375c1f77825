import type { Page, WebSocket } from "playwright-core"
import { describe, expect, it } from "vitest"
import { login, totpCode, turnOnTotp } from "../accounts/person.ts"
import { serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, password, register } from "./console-person.ts"

const serveConsole = async (environment: Record<string, string>) => {
  const port = await freePort()
  return serveDirectory(
    { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}`, ...environment },
    // This option makes the service notice changes that the test makes directly in the database.
    { peersPossible: true },
  )
}
/**
 * A service whose access tokens are valid for 62 seconds. The console refreshes a token one minute before it expires,
 * so it refreshes every two seconds.
 */
const service = await serveConsole({ ACCESS_TOKEN_SECONDS: "62" })
/**
 * A service with the default lifetime of access tokens, so that no token is refreshed automatically during a test.
 */
const calm = await serveConsole({})
const browser = await openBrowser()

const tokensOf = async (page: Page): Promise<{ access_token: string; refresh_token: string }> =>
  JSON.parse(await page.evaluate(() => sessionStorage.getItem("console-tokens") ?? "{}"))

describe.skipIf(executable === undefined)("a session in the console", () => {
  it("continues after a payment in another tab, even if the tokens are refreshed twice during the payment", async () => {
    const buyer = await register(service)
    await service.call("POST", "/cart", { token: buyer.token, body: { items: [{ emoji_id: "🐢🎬🐢" }] } })
    const page = await openConsole(await browser.person(), service, buyer, "#/cart")
    const opened = page.waitForEvent("popup")
    // A duplicated tab starts with a copy of sessionStorage, and so does a tab that a script opens.
    await page.evaluate(() => window.open(location.href))
    const popup = await opened
    await popup.getByRole("button", { name: /by card$/ }).click()
    // The button of the sandbox page, which opens in the same tab. Until then, the page is about to be left.
    const pay = popup.getByRole("button", { name: /^Pay \$[\d.]+$/ })
    await pay.waitFor()
    const copied = new Set([(await tokensOf(popup)).refresh_token])
    await expect.poll(async () => copied.add((await tokensOf(page)).refresh_token).size).toBe(3)
    await pay.click()
    await popup.getByRole("heading", { name: "Thank you. Your order is complete." }).waitFor()
    const { access_token: token } = await tokensOf(page)
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
  })

  it("can start and end even if the browser denies access to sessionStorage", async () => {
    const person = await register(service)
    const page = await (await browser.person()).newPage()
    await page.addInitScript(() => {
      Object.defineProperty(window, "sessionStorage", {
        get: () => {
          throw new DOMException("Access is denied for this document.", "SecurityError")
        },
      })
    })
    await page.goto(`${service.url}/#/transfers`)
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("heading", { name: "Transfers", level: 1 }).waitFor()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByRole("link", { name: "Sign in" }).waitFor()
  })

  it("ends on all devices when the user signs out with an expired access token", async () => {
    const person = await register(service)
    const elsewhere = await login(service, person.email, password)
    const context = await browser.person()
    const page = await openConsole(context, service, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    // The first request is rejected as if the access token had expired while the computer was asleep.
    let refused = 0
    await context.route("**/logout", (route) =>
      ++refused === 1
        ? route.fulfill({ status: 401, json: { error: "The access token has ended." } })
        : route.continue(),
    )
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByText("You are signed out on all devices.").waitFor()
    const again = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: elsewhere.body.refresh_token },
    })
    expect(again.status).toBe(401)
    expect(await tokensOf(page)).toEqual({})
  })

  it("continues when another session of the same user ends", async () => {
    const person = await register(service)
    const elsewhere = (await login(service, person.email, password)).body
    const context = await browser.person()
    const received = new Promise<void>((resolve) =>
      context.on("page", (page) =>
        page.on("websocket", (socket) =>
          socket.on("framereceived", ({ payload }) => {
            if (String(payload).includes("session.logged_out")) resolve()
          }),
        ),
      ),
    )
    const page = await openConsole(context, service, person, "#/market")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    const refresh = async (refresh_token: string) =>
      (await service.call("POST", "/auth/token/refresh", { body: { refresh_token } })).body.refresh_token
    await refresh(await refresh(elsewhere.refresh_token))
    expect(await refresh(elsewhere.refresh_token)).toBeUndefined()
    await received
    await page.evaluate(() => new Promise(requestAnimationFrame))
    expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(true)
    expect(await tokensOf(page)).toHaveProperty("access_token")
  })

  it("is reported as ended when a form is submitted after its end, and the form is shown again after a new sign-in", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/profile")
    await page.getByLabel("First name").fill("Ada")
    // The session ends without a live event, so the console notices it only when the form is submitted.
    let hasEnded = false
    await page.route("**/auth/token/refresh", (route) =>
      hasEnded
        ? route.fulfill({ status: 401, json: { error: "The refresh token has ended." } })
        : route.continue(),
    )
    await page.route("**/account", (route) => {
      hasEnded ||= route.request().method() === "PATCH"
      return hasEnded
        ? route.fulfill({ status: 401, json: { error: "The access token has ended." } })
        : route.continue()
    })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("You were signed out.").waitFor()
    await page.unrouteAll()
    await page.getByLabel("Email").fill(person.email)
    await page.getByRole("textbox", { name: "Password" }).fill(password)
    await page.getByRole("tabpanel").getByRole("button", { name: "Sign in" }).click()
    await page.getByLabel("First name").waitFor()
    expect(page.url()).toContain("#/account/profile")
  })

  it("continues in the tab in which the user changed the password", async () => {
    const person = await register(service)
    const context = await browser.person()
    const opened = new Promise<WebSocket>((resolve) =>
      context.on("page", (page) => page.once("websocket", (socket) => resolve(socket))),
    )
    const page = await openConsole(context, service, person, "#/account/profile")
    const socket = await opened
    await context.route("**/account", async (route) => {
      if (route.request().method() !== "PATCH") return route.continue()
      const closed = socket.waitForEvent("close")
      const response = await route.fetch()
      // The response is held until the socket of the old session is closed, so the page learns of the end of the old
      // session before it gets the new session.
      await closed
      await route.fulfill({ response })
    })
    await page.getByLabel("Current password").fill(password)
    await page.getByLabel("New password").fill("another horse battery staple")
    await page.getByRole("button", { name: "Change password" }).click()
    await page.getByText("Your password was changed").waitFor()
    await page.locator("#live-state", { hasText: "Live" }).waitFor()
    expect(await page.getByText("You were signed out.").isVisible()).toBe(false)
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    expect(page.url()).toContain("#/account/profile")
  })

  it("continues in a second tab when a two-factor code is entered in the first tab", async () => {
    const person = await register(calm)
    const context = await browser.person()
    const one = await openConsole(context, calm, person, "#/account/keys")
    const two = await openConsole(context, calm, person, "#/market")
    const { secret } = await turnOnTotp(calm, person.token)
    await calm.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,verifiedAt}', '1')
      where kind = 'session' and owner_id = ${person.id}`
    const before = (await tokensOf(two)).refresh_token
    await one.getByLabel("Name", { exact: true }).fill("shop")
    await one.getByRole("button", { name: "Create key" }).click()
    await one.getByLabel("Code", { exact: true }).fill(totpCode(secret))
    await one.getByRole("button", { name: "Confirm" }).click()
    await one.getByText(/svc_/).waitFor()
    await expect.poll(async () => (await tokensOf(two)).refresh_token).not.toBe(before)
    await two.getByRole("button", { name: "Sign out" }).waitFor()
    const { refresh_token } = await tokensOf(two)
    expect((await calm.call("POST", "/auth/token/refresh", { body: { refresh_token } })).status).toBe(200)
  })

  it("lets the user finish the two-factor setup with the same backup codes when the account changes during the setup", async () => {
    const person = await register(service)
    const page = await openConsole(await browser.person(), service, person, "#/account/security")
    await page.getByRole("button", { name: "Set up an authenticator app" }).click()
    const secret = (await page.locator(".secret").textContent()) ?? ""
    const codes = await page.locator(".backup-codes li").allTextContents()
    const read = page.waitForResponse(/\/account$/)
    await service.call("POST", "/cart", { token: person.token, body: { items: [{ emoji_id: "🐢🎨🐢" }] } })
    await service.call("POST", "/cart/checkout", { token: person.token, body: { method: "Free" } })
    await (await read).finished()
    await page.getByLabel("Code from the app").fill(totpCode(secret))
    await page.getByRole("button", { name: "Turn on" }).click()
    await page.getByText("Two-factor authentication is on: Authenticator app.").waitFor()
    expect(await page.locator(".backup-codes li").allTextContents()).toEqual(codes)
  })

  it.each([429, 503])("continues after a reload if the first token refresh fails with %i", async (status) => {
    const person = await register(calm)
    const context = await browser.person()
    // The page is fully loaded before the error is set up, so that it neither receives the error nor uses the refresh
    // token.
    const page = await openConsole(context, calm, person, "#/cart")
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    // This access token has expired, as it would while the computer is asleep, so the page must refresh it first.
    const ended = person.tokens.access_token.replace(
      /\.[^.]+\./,
      `.${btoa('{"exp":1}').replaceAll("=", "")}.`,
    )
    // The tokens are stored when the new page starts. If they were stored now, the old page could overwrite them
    // before it closes.
    await page.addInitScript(
      (stored) => sessionStorage.setItem("console-tokens", stored),
      JSON.stringify({ ...person.tokens, access_token: ended }),
    )
    let refused = 0
    await context.route("**/auth/token/refresh", (route) =>
      ++refused === 1 ? route.fulfill({ status, json: { error: "Not now." } }) : route.continue(),
    )
    // The page itself records that it showed the notice, because on a busy machine the notice may disappear before
    // the test sees it.
    await context.addInitScript(() => {
      const look = () => {
        if (document.body?.textContent.includes("Not now.")) document.documentElement.dataset["shown"] = "yes"
      }
      new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
    })
    await page.reload()
    await page.getByRole("button", { name: "Sign out" }).waitFor()
    await page.getByRole("heading", { name: "Cart", exact: true }).waitFor()
    expect(refused).toBeGreaterThan(1)
    expect(await page.locator("html").getAttribute("data-shown")).toBe("yes")
  })
})
