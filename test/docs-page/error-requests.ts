import type { TestService } from "../fixtures/service.ts"
import { done } from "../http/keyed-routes/keyed-request.ts"
import { card, freshId } from "../orders/shopper.ts"
import { grant } from "../transfers/transfer-service.ts"
import { exampleId, type MakeRequest, pathOf } from "./read-requests.ts"

const missing = "00000000-0000-4000-8000-000000000000"

/** Makes a request for every error code. `makeReadRequests` must have registered the id of the examples. */
export const makeErrorRequests = async (
  service: TestService,
): Promise<Readonly<Record<string, MakeRequest>>> => {
  const user = await service.user()
  const admin = await service.user({ role: "Admin" })
  const get =
    (path: string, token?: string): MakeRequest =>
    () => ({ method: "GET", path, options: token === undefined ? {} : { token } })
  const resolve = (query: string) => get(`${pathOf(exampleId)}/resolve?${query}`)
  return {
    invalid_request: get("/emoji_id/random?limit=0", user.token),
    unsupported_emoji: get("/emoji_id/fox/rhythm"),
    unknown_asset: resolve("asset=NOPE"),
    unknown_network: resolve("asset=USDC&network=mars"),
    network_required: resolve("asset=USDC"),
    no_address: resolve("asset=DOGE"),
    unauthorized: get("/account"),
    forbidden: get("/users", user.token),
    not_found: get(`/orders/${missing}`, user.token),
    method_not_allowed: () => ({ method: "PUT", path: "/account", options: { token: user.token, body: {} } }),
    refused_by_state: async () => {
      const buyer = await service.user()
      await done(service, buyer, "POST", "/cart", { items: [{ emoji_id: freshId() }] })
      await done(service, buyer, "POST", "/cart/checkout", card)
      const body = { items: [{ emoji_id: freshId() }] }
      return { method: "POST", path: "/cart", options: { token: buyer.token, body } }
    },
    conflict: async () => {
      const owner = await service.user()
      const id = freshId()
      await grant(service, owner, id)
      await done(service, admin, "PUT", `${pathOf(id)}/minted`, { minted: true })
      const body = { eid: id, email: "bob@example.com" }
      return { method: "POST", path: "/transfers", options: { token: owner.token, body } }
    },
    body_too_large: () => ({
      method: "POST",
      path: "/auth/token",
      options: { body: { email: "alice@example.com", password: "x".repeat(2_000_000) } },
    }),
    unprocessable: () => ({
      method: "POST",
      path: "/users",
      options: { body: { email: user.email, password: "correct horse battery" } },
    }),
    two_factor_required: async () => {
      const careful = await service.user()
      await service.sql`insert into two_factor (user_id, provider, confirmed_at)
                        values (${careful.id}, 'AuthenticatorApp', now())`
      return { method: "POST", path: "/api_keys", options: { token: careful.token, body: { name: "till" } } }
    },
    upgrade_required: get("/live"),
    too_many_requests: async () => {
      const sender = await service.user()
      const eid = freshId()
      await grant(service, sender, eid)
      const { id } = await done(service, sender, "POST", "/transfers", { eid, email: "bob@example.com" })
      return { method: "POST", path: `/transfers/${id}/resend_code`, options: { token: sender.token } }
    },
    unavailable: () => ({
      method: "POST",
      path: "/proxy",
      options: { token: user.token, body: { service: "Scraper", data: "https://example.com" } },
    }),
  }
}
