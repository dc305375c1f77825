import { randomUUID } from "node:crypto"
import { bitcoin, ethereum } from "../directory/directory-service.ts"
import type { TestService } from "../fixtures/service.ts"
import { done, type KeyedRequest } from "../http/keyed-routes/keyed-request.ts"
import { orderRequests } from "../http/keyed-routes/order-requests.ts"
import { codeFor, grant } from "../transfers/transfer-service.ts"

/** Makes the request of one example. */
export type MakeRequest = () => KeyedRequest | Promise<KeyedRequest>

export const exampleId = "🚀🌊🔥"
export const pathOf = (id: string) => `/emoji_id/${encodeURIComponent(id)}`

/** Prepares users, ids and orders, and returns the requests of all operations that read. */
export const makeReadRequests = async (
  service: TestService,
): Promise<Readonly<Record<string, MakeRequest>>> => {
  const alice = await service.user({ email: "alice@example.com", freeLimit: 5 })
  const bob = await service.user({ email: "bob@example.com" })
  const admin = await service.user({ email: "admin@example.com", role: "Admin" })
  const { sql } = service
  const as = (user: { readonly token: string }, method: string, path: string, body?: unknown) =>
    done(service, user, method, path, body)
  const id = pathOf(exampleId)
  await grant(service, alice, exampleId)
  await as(alice, "PATCH", id, {
    insert: [
      { tag: "0x1003", data: `${bitcoin}|Savings||t` },
      { tag: "0x1004", data: ethereum },
      { tag: "0x4001", data: "https://example.com/alice" },
      { tag: "0x0004", data: "https://example.com/alice" },
    ],
  })
  await as(alice, "POST", `${id}/json/VisualizerName`, { data: { name: "moon" } })
  await grant(service, alice, "🐙🎈🎲")
  await as(alice, "POST", "/transfers", { eid: "🐙🎈🎲", email: bob.email, message: "For you" })
  await grant(service, bob, "🔥🐙🔥")
  const incoming = await as(bob, "POST", "/transfers", {
    eid: "🔥🐙🔥",
    email: alice.email,
    message: "Thanks",
  })
  const code = await codeFor(service, bob.email, incoming.id)
  await as(bob, "POST", `/transfers/${incoming.id}/sender_accept`, { code })
  await as(alice, "POST", "/cart", { items: [{ emoji_id: "🌈🍀" }] })
  const order = await as(alice, "POST", "/cart/checkout", { method: "Free" })
  await as(alice, "POST", "/cart", { items: [{ emoji_id: "🎈🎲🍀" }] })
  const refunded = await orderRequests["refundOrder"]!(service)
  const refundedOrder = refunded.path.split("/")[2]!
  await service.call(refunded.method, refunded.path, refunded.options)
  await as(alice, "POST", "/user_interests", { emoji_id: "🦊🎧🐙🚀" })
  await as(alice, "POST", "/api_keys", { name: "till", scopes: ["userEmoji:list"] })
  await as(alice, "POST", "/pubkeys")
  await sql`insert into payment_method (id, user_id, provider, payment_type) values (${`pm_${randomUUID()}`}, ${alice.id}, 'sandbox', 'card')`
  await sql`insert into wallet (user_id, eth_address, source) values (${alice.id}, ${ethereum.toLowerCase()}, 'Mint')`
  const feature = await as(admin, "POST", "/features", { code: "beta", description: "New functions" })
  await as(admin, "PUT", `/users/${alice.id}/features/${feature.id}`)
  const acme = await as(admin, "POST", "/organizations", {
    name: "Acme",
    partner_path: "acme",
    return_link: "https://acme.example/done",
  })
  const organization = `/organizations/${acme.id}`
  await as(admin, "PUT", `${organization}/members/${alice.id}`, { role: "OrgOwner", email: alice.email })
  await as(admin, "PUT", `${organization}/branding`, { currencies: ["BTC", "ETH"] })
  await as(admin, "PUT", `${organization}/pubkeys/${await as(alice, "POST", "/pubkeys")}`)
  await as(admin, "PUT", `${organization}/code_budget`, { budget_in_cents: 10_000 })
  const chat = await as(admin, "POST", "/oauth_clients", {
    name: "Chat",
    redirect_uris: ["https://app.example/back"],
  })
  await sql`insert into oauth_grant (id, client_id, user_id, emoji_id, epoch, expires_at)
            values (${randomUUID()}, ${chat.client_id}, ${alice.id}, '🦊🎧🐙🚀', 0, now() + interval '30 days')`
  await as(admin, "POST", "/codes", {
    name: "Spring",
    code_type: "Discount",
    discount_in_cents: 500,
    redemption_code: "SPRING",
  })
  const type = {
    name: "Starter",
    description: "Two ids",
    config: {
      size: 2,
      min_length: 4,
      max_length: 6,
      min_base_score: 1,
      max_base_score: 100,
      guarantees: [],
      weights: [],
    },
  }
  await as(admin, "POST", "/lootbox_type", type)
  const box = await as(admin, "POST", "/lootboxes", {
    status: "Owned",
    owner_id: alice.id,
    yats: ["🎲🎲🍀🍀"],
  })
  const [token] = await as(alice, "GET", "/emoji_id/extended")

  const get =
    (path: string, user?: { readonly token: string }): MakeRequest =>
    () => ({ method: "GET", path, options: user === undefined ? {} : { token: user.token } })
  const post =
    (path: string, body: unknown, user?: { readonly token: string }): MakeRequest =>
    () => ({ method: "POST", path, options: { body, ...(user === undefined ? {} : { token: user.token }) } })
  const address = { emoji_id: exampleId, asset: "ETH" }

  return {
    health: get("/health"),
    ready: get("/ready"),
    metrics: get("/metrics"),
    version: get("/version"),
    openapi: get("/openapi.json"),
    asyncapi: get("/asyncapi.json"),
    docs: get("/docs"),
    console: get(`/?emoji_id=${encodeURIComponent(exampleId)}`),
    consoleSearch: get(`/create?eid=${encodeURIComponent(exampleId)}`),
    adminFigures: get("/admin/figures", admin),
    listEvents: get("/admin/events?kind=emoji_id&limit=2", admin),
    lookupEmojiID: get(id),
    lookupEmojiIDPayment: get(`${id}/payment`),
    confirmRecord: get(`${id}/confirm?tag=BTC&data=${bitcoin}`),
    lookupEmojiIdTicker: get(`${id}/BTC`),
    lookupEmojiIDs: post("/emoji_id/lookup", { emoji_ids: [exampleId, "🍀🍀🍀🍀"] }),
    resolveEmojiID: get(`${id}/resolve?asset=USDC&network=ethereum`),
    resolveEmojiIDs: post("/emoji_id/resolve", { items: [address, { ...address, asset: "DOGE" }] }),
    proofKeys: get("/.well-known/emoji-id-directory"),
    emojiIdHistory: get(`${id}/history?limit=2`, alice),
    emojiList: get("/emoji"),
    emojiIDMetadata: get(`${id}/metadata`),
    rhythm: get(`${id}/rhythm`),
    getStats: get(`${id}/stats`, alice),
    listEmojiIDs: get("/emoji_id", alice),
    listExtended: get("/emoji_id/extended?limit=1", alice),
    random: get("/emoji_id/random?limit=2", alice),
    recent: get("/emoji_id/recent", alice),
    searchEmojiID: get(`/emoji_id/search?emoji_id=${encodeURIComponent("🐙🎈🎲🍀")}`, alice),
    loadJsonIndex: get(`${id}/json?keys=VisualizerName`),
    loadJson: get(`${id}/json/VisualizerName`),
    linkRedirect: get(`/redirect?emoji_id=${encodeURIComponent(exampleId)}`),
    metadata: get(`/nft_transfers/metadata/${token.token_id}`),
    readPriceParameters: get("/price_parameters", admin),
    listFiltered: get("/transfers?limit=1", alice),
    listIncoming: get("/transfers/incoming?accepted=false", alice),
    listSessions: get("/account/sessions", alice),
    listGrantedApplications: get("/account/applications", alice),
    getAccount: get("/account", alice),
    load: get("/account/load", alice),
    getAllUsers: get("/users?search=alice", admin),
    showUser: get(`/users/${alice.id}`, alice),
    getSecurityLog: get("/account/security_log?limit=1", alice),
    getSecurityLogOfUser: get(`/users/${alice.id}/security_log?limit=1`, admin),
    readFeatures: get("/user_features", alice),
    listFeatures: get("/features", admin),
    readFeaturesOfUser: get(`/users/${alice.id}/features`, admin),
    getPubkeys: get("/pubkeys", alice),
    getPubkeysForUser: get(`/users/${alice.id}/pubkeys`, admin),
    listWallets: get("/wallets", alice),
    walletChallenge: get("/wallets/challenge?source=Mint", alice),
    listApiKeys: get("/api_keys", alice),
    getInterestedUsers: get("/user_interests", alice),
    getUserInterestForYat: get(`/user_interests/${encodeURIComponent("🦊🎧🐙🚀")}`, alice),
    listOrganizations: get("/organizations", alice),
    showOrganization: get(organization, alice),
    getBranding: get(`${organization}/branding`, alice),
    listMembers: get(`${organization}/members`, alice),
    listOrganizationPubkeys: get(`${organization}/pubkeys`, alice),
    getCodeBudget: get(`${organization}/code_budget`, alice),
    listOauthClients: get("/oauth_clients", admin),
    callProxy: post("/proxy", { service: "Echo", data: "hello" }, alice),
    getTypes: get("/lootbox_type", admin),
    listLootboxes: get("/lootboxes", alice),
    showLootbox: get(`/lootboxes/${box.id}`, alice),
    getItems: get("/cart", alice),
    listOrders: get("/orders?limit=1", alice),
    getOrder: get(`/orders/${order.id}`, alice),
    listRefunds: get(`/orders/${refundedOrder}/refunds`, admin),
    listPaymentMethods: get("/payment_methods", alice),
    listCodes: get("/codes?limit=1", admin),
  }
}
