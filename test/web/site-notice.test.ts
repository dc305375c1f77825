import { afterEach, describe, expect, it, vi } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { serve } from "../fixtures/service.ts"
import { card, freshId, freshIds, newShopper } from "../orders/shopper.ts"
import { makePartner, makeWalletUser } from "../partners/partner.ts"
import { authorizeAddress, makeVisitor, registerApplication } from "../sign-in/oauth/application.ts"

afterEach(() => vi.restoreAllMocks())

const production = { NODE_ENV: "production", RATE_LIMIT: "on" }
const notice = "Test payments: no real money is charged."
const times = (text: string) => text.split(notice).length - 1

/** Starts a service and returns the text of one page of each kind, including error pages. */
const pagesOf = async (settings: Record<string, string>) => {
  const service = await serveDirectory(settings)
  const partner = await makePartner(service, "octo", "https://wallet.example/back")
  const application = await registerApplication(service, "https://app.example/callback")
  const paths: Record<string, number> = {
    "/": 200,
    "/?emoji_id=%F0%9F%90%99": 200,
    "/docs": 200,
    [authorizeAddress(application)]: 200,
    "/authorize": 400,
    "/magic_link?refresh_token=unknown": 400,
    "/magic_link/done": 400,
    [`/partner/${partner.path}`]: 200,
    [`/partner/${partner.path}/manage`]: 200,
    "/partner/unknown": 404,
    "/sandbox/checkout/unknown": 404,
    // This path is rejected before a handler runs.
    "/partner/%ff": 400,
  }
  const pages = new Map<string, string>()
  for (const [path, status] of Object.entries(paths)) {
    const answer = await service.call("GET", path)
    expect([path, answer.status]).toEqual([path, status])
    pages.set(path, answer.text)
  }
  return { service, pages }
}

describe("PAYMENTS=sandbox", () => {
  it("shows the test-payment notice once on every page, and in no JSON response", async () => {
    const { pages, service } = await pagesOf({ ...production, PAYMENTS: "sandbox" })
    for (const [path, text] of pages)
      expect([path, times(text)]).toEqual([path, text.startsWith("<!doctype html>") ? 1 : 0])
    const isPage = (text: string) => text.startsWith("<!doctype html>")
    expect([...pages].filter(([, text]) => !isPage(text)).map(([path]) => path)).toEqual([])
    const buyer = await newShopper(service)
    await buyer.add(...freshIds(1))
    const { body, text } = await buyer.checkout(card)
    const path = `/sandbox/checkout/${body.payment_method_data.session_id}`
    expect(times((await service.call("GET", path)).text)).toBe(1)
    expect(times(text)).toBe(0)
    expect(times((await service.call("GET", "/openapi.json")).text)).toBe(0)
  })

  it("shows the test-payment notice outside production too; without this setting no notice is shown", async () => {
    const shown = async (settings: Record<string, string>) =>
      times((await (await serve(settings)).call("GET", "/")).text)
    expect(await shown({ PAYMENTS: "sandbox" })).toBe(1)
    expect(await shown({})).toBe(0)
    expect(await shown(production)).toBe(0)
  })

  it("is logged as a warning at startup, and so is a missing payment provider in production", async () => {
    const lines: Array<string> = []
    vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
    const warnings = async (settings: Record<string, string>) => {
      lines.length = 0
      await serve({ LOG_LEVEL: "Warn", ...settings })
      return lines.filter((line) => /payment/i.test(line)).map((line) => JSON.parse(line))
    }
    expect(await warnings({ ...production, PAYMENTS: "sandbox" })).toMatchObject([
      { level: "WARN", message: "PAYMENTS=sandbox: test payments are accepted, no real money is charged" },
    ])
    expect(await warnings(production)).toMatchObject([
      { level: "WARN", message: "no payment provider is configured: only Free and Cash checkouts work" },
    ])
    expect(await warnings({})).toEqual([])
  })
})

describe("without a payment provider", () => {
  it("a partner's cart page says that payments are not configured, has no pay button, and rejects the form", async () => {
    const service = await serveDirectory(production)
    await makePartner(service, "octo", "https://wallet.example/back")
    const user = await makeWalletUser(service, "wallet-1")
    await service.sql`update app_user set free_limit = 0 where id = ${user.id}`
    const visitor = makeVisitor(service)
    const path = "/partner/octo"
    await visitor.get(`${path}?${new URLSearchParams({ refresh_token: user.refresh })}`)
    await visitor.submit(await visitor.get(path), { action: "choose", emoji_id: freshId() })
    const cart = await visitor.get(`${path}?cart`)
    expect(cart.text).toContain("Card payments are not configured on this server.")
    expect(cart.text).not.toMatch(/value="(card|crypto)"/)
    for (const action of ["card", "crypto"]) {
      const refused = await visitor.submit(cart, { action })
      expect(refused.status).toBe(422)
      expect(refused.text).toContain("on this server.")
    }
    expect(await service.sql`select 1 from claim where owner_id = ${user.id}`).toHaveLength(0)
  })

  it("the console lists no payment methods; with test payments it lists three methods", async () => {
    const listed = async (settings: Record<string, string>) =>
      /data-payment-methods="([^"]*)"/.exec((await (await serve(settings)).call("GET", "/")).text)?.[1]
    expect(await listed(production)).toBe("")
    expect(await listed({})).toBe("CardCheckout CryptoCommerce WalletPay")
  })
})
