import type { BrowserContext, Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { bitcoin, ethereum, otherBitcoin, serveDirectory } from "../directory/directory-service.ts"
import { executable, openBrowser } from "../fixtures/browser.ts"
import { freePort } from "../fixtures/free-port.ts"
import { openConsole, register } from "./console-person.ts"

const port = await freePort()
const service = await serveDirectory({ PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` })
const browser = await openBrowser()

const id = "🐢🦊"
const owner = await register(service)
await service.register(id, owner)
await service.edit(id, owner, {
  insert: [
    { tag: "0x1003", data: bitcoin },
    { tag: "0x1004", data: ethereum },
  ],
})

const openId = (context: BrowserContext, emojiId = id) =>
  openConsole(context, service, undefined, `#/lookup/${encodeURIComponent(emojiId)}`)
const seal = (page: Page) => page.getByRole("button", { name: "Signed answer, checked" })

/** Replaces the address in every response to a request with a proof, as a proxy or a cache can do. */
const replaceAddresses = (context: BrowserContext, path: RegExp) =>
  context.route(path, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replaceAll(bitcoin, otherBitcoin) })
  })
const lookup = /\/emoji_id\/[^/?]+\?proof=true$/
const resolve = /\/emoji_id\/resolve\?proof=true$/

describe.skipIf(executable === undefined)("the seal of a lookup", () => {
  it("appears when the proof of the shown answer was checked, and opens the proof", async () => {
    const context = await browser.person()
    await context.grantPermissions(["clipboard-read", "clipboard-write"])
    const page = await openId(context)
    await seal(page).focus()
    await page.keyboard.press("Enter")
    const dialog = page.getByRole("dialog", { name: "Signed answer" })
    await dialog.getByText(service.url, { exact: true }).waitFor()
    await dialog.getByText("only the service vouches for them").waitFor()
    expect(await dialog.getByRole("link", { name: "Verify an answer" }).getAttribute("href")).toBe(
      "/docs/verification",
    )
    await dialog.getByRole("button", { name: "Copy proof" }).click()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(copied).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(
      JSON.parse(Buffer.from((await copied()).split(".")[1] ?? "", "base64url").toString()),
    ).toMatchObject({ registered: true })
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Signed answer, checked")
  })

  it.each([
    ["the records", lookup],
    ["the answers for wallets", resolve],
  ])(
    "is replaced by a refusal, without any address, if something on the way has changed %s",
    async (_, path) => {
      const context = await browser.person()
      await replaceAddresses(context, path)
      const page = await openId(context)
      const alert = page.getByRole("alert").filter({ hasText: "Do not pay to this id now" })
      await alert.getByText("altered_answer").waitFor()
      expect(
        await page.getByText(bitcoin).or(page.getByText(otherBitcoin)).filter({ visible: true }).count(),
      ).toBe(0)
      await context.unroute(path)
      await page.getByRole("button", { name: "Check again" }).click()
      await seal(page).waitFor()
      await page.getByText(bitcoin).waitFor()
      expect(await alert.count()).toBe(0)
    },
  )

  it("does not appear if the live connection shows other records than those that were signed", async () => {
    const context = await browser.person()
    await context.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer()
      server.onMessage((text) => socket.send(String(text).replaceAll(bitcoin, otherBitcoin)))
    })
    const page = await openId(context)
    await page.getByText("other_answer").waitFor()
    await page.getByText(otherBitcoin).waitFor({ state: "hidden" })
  })

  it("warns that the answer is not verified while the service signs none", async () => {
    const context = await browser.person()
    await context.route(lookup, (route) =>
      route.fulfill({
        status: 503,
        json: { error: "Proofs cannot be signed at the moment.", code: "unavailable" },
      }),
    )
    const page = await openId(context)
    const alert = page.getByRole("alert").filter({ hasText: "This answer is not verified." })
    await alert.getByText("Proofs cannot be signed at the moment.").waitFor()
    await page.getByText("Network: bitcoin").waitFor()
    await context.unroute(lookup)
    await page.getByRole("button", { name: "Check again" }).click()
    await seal(page).waitFor()
  })

  it("also checks the proof that an id is not registered", async () => {
    const page = await openId(await browser.person(), "🦊🦊🦊")
    await page.getByText("Not registered").waitFor()
    await seal(page).click()
    await page.getByText("The service has signed that this id is not registered.").waitFor()
  })

  it("checks with a library in a browser without Ed25519", async () => {
    const context = await browser.person()
    await context.addInitScript(() => {
      const native = crypto.subtle.importKey.bind(crypto.subtle) as (
        ...given: unknown[]
      ) => Promise<CryptoKey>
      crypto.subtle.importKey = (...given: unknown[]) =>
        given[2] === "Ed25519"
          ? Promise.reject(new DOMException("Unrecognized name.", "NotSupportedError"))
          : native(...given)
    })
    await seal(await openId(context)).waitFor()
    await replaceAddresses(context, lookup)
    await (await openId(context)).getByText("altered_answer").waitFor()
  })
})
