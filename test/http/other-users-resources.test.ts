import { describe, expect, it } from "vitest"
import type { Route } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { claimsOf, newestLink } from "../accounts/person.ts"
import { type CallOptions, serve } from "../fixtures/service.ts"
import { card, freshId, newShopper } from "../orders/shopper.ts"
import { grant } from "../transfers/transfer-service.ts"

/** These tests call every route that has a path parameter. The parameter names a resource of another user. */

const service = await serve()
const admin = await newShopper(service, { role: "Admin" })
const owner = await newShopper(service)
const stranger = await newShopper(service)
const partner = await newShopper(service)

const made = async (answer: ReturnType<typeof admin.call>) => {
  const { body, status, text } = await answer
  if (status !== 200) throw new Error(text)
  return body
}
const newOrganization = async (ownerId: string) => {
  const { id } = await made(admin.call("POST", "/organizations", { name: "An organization" }))
  await made(admin.call("PUT", `/organizations/${id}/members/${ownerId}`, { role: "OrgOwner" }))
  return id as string
}

const [owned, sent, boxed, wanted] = [freshId(), freshId(), freshId(), freshId()]
await grant(service, owner, owned)
await grant(service, owner, sent)
const organization = await newOrganization(owner.id)
await newOrganization(partner.id)
const pubkey = await made(owner.call("POST", "/pubkeys"))
await made(owner.add(wanted))
const order = await made(owner.checkout(card))
const transfer = await made(owner.call("POST", "/transfers", { eid: sent, email: admin.email }))
const box = await made(
  admin.call("POST", "/lootboxes", { status: "Owned", yats: [boxed], owner_id: owner.id }),
)
const code = await made(
  owner.call("POST", "/codes", {
    name: "a code",
    code_type: "Discount",
    discount_in_cents: 5,
    redemption_code: "OTHERS-THINGS",
    organization_id: organization,
  }),
)
await made(admin.call("POST", `/codes/${code.id}/pubkeys/${pubkey}?kind=ed25519`))
const key = await made(owner.call("POST", "/api_keys", { name: "a key" }))
const client = await made(
  admin.call("POST", "/oauth_clients", {
    name: "an application",
    redirect_uris: ["https://app.example/back"],
    organization_id: organization,
  }),
)
const feature = await made(admin.call("POST", "/features", { code: "beta" }))
await made(admin.call("PUT", `/users/${owner.id}/features/${feature.id}`))
await service.sql`insert into payment_method (id, user_id, provider, payment_type)
                  values ('pm_owner', ${owner.id}, 'sandbox', 'card')`

await made(owner.call("POST", "/auth/magic_link", { email: owner.email }))
const session = await made(
  service.call("POST", "/auth/magic_link/consume", {
    body: { token: await newestLink(service, owner.email) },
  }),
)

const named: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\/payment_methods\/:id/, "pm_owner"],
  [/^\/api_keys\/:id/, key.id],
  [/^\/organizations\/:id/, organization],
  [/^\/features\/:id/, feature.id],
  [/^\/lootboxes\/:id/, box.id],
  [/^\/orders\/:id|^\/cart\/checkout\/:id/, order.id],
  [/^\/users\/:id/, owner.id],
]
const things: Readonly<Record<string, string>> = {
  emoji_id: encodeURIComponent(owned),
  eid: encodeURIComponent(owned),
  user_id: owner.id,
  transfer_id: transfer.id,
  code_id: code.id,
  client_id: client.client_id,
  feature_id: feature.id,
  session_id: claimsOf(session.access_token).sid,
  cart_item_id: order.order_items[0].id,
  pubkey,
  key: "VisualizerName",
}
const thingOf = ({ path }: Route, name: string) =>
  name === "id" ? named.find(([rows]) => rows.test(path))?.[1] : things[name]

const bodies: Readonly<Record<string, unknown>> = {
  setBranding: { currencies: [], return_link: "https://partner.example/back" },
  setCodeBudget: { budget_in_cents: 1 },
  putMember: { role: "OrgMember", email: owner.email },
  updateOrganization: { name: "Mine" },
  checkoutOrder: card,
  senderAcceptTransfer: { code: "123456" },
  receiverAcceptTransfer: { code: "123456" },
  overrideRefund: { amount: 1, external_reference: "x" },
  overridePayment: { amount: 1, external_reference: "x" },
  storeJson: { data: "mine" },
  generateSignature: { account: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" },
  setMinted: { minted: true },
  editEmojiID: { insert: [{ tag: "0x4001", data: "https://example.com" }] },
  activateRandomYatCode: { nonce: "n", pubkey, signature: "00" },
}

const send = (row: Route, options: CallOptions) => {
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) => thingOf(row, name) ?? "")
  return service.call(row.method === "del" ? "DELETE" : row.method.toUpperCase(), path, {
    ...options,
    ...(row.method === "get" ? {} : { body: bodies[row.id] ?? {} }),
  })
}
/** Operations that every user may call for every emoji id, including the ids of other users. */
const forAnybody = ["getStats"]
/** Operations that an API key without scopes may call. `readFeaturesOfUser` reads the features of the key's owner. */
const forAnyKey = [...forAnybody, "readFeaturesOfUser"]
/**
 * Returns the expected statuses of a rejected request. Adding the pubkey of another user gets 422, which reports only
 * that the key is registered.
 */
const refusals = (row: Route) => (row.id === "addPubkey" ? [422] : [403, 404])

const bare = await made(owner.call("POST", "/api_keys", { name: "for nothing", scopes: [] }))
/**
 * Tables whose rows are not compared, because they change in the background. For the outbox, the number of rows is
 * compared.
 */
const volatileTables = [
  "rate_window",
  "emoji_id_view",
  "view_batch",
  "audit_round",
  "order_cleanup",
  "outbox",
  "session_use",
]
const tables = (
  await service.sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename not in ${service.sql(volatileTables)}`
).map(({ name }) => name)
const sums = [
  ...tables.map((name) => `select '${name}' as name, sum(hashtextextended(t::text, 0)) from ${name} t`),
  "select 'outbox', count(*) from outbox",
].join(" union all ")
/** Returns a checksum of every table. A rejected request must not change it. */
const everything = () => service.sql.unsafe(sums)

const rows = routes
  .filter(({ auth, path }) => auth !== "none" && auth !== "optional" && path.includes(":"))
  .map((row) => [`${row.method} ${row.path}`, row] as const)
const except = (ids: ReadonlyArray<string>) => rows.filter(([, { id }]) => !ids.includes(id))
const only = (ids: ReadonlyArray<string>) => rows.filter(([, { id }]) => ids.includes(id))

describe.each(rows)("%s", (_name, row) => {
  it("has only path parameters for which this test has a value", () => {
    for (const [, name] of row.path.matchAll(/:(\w+)/g)) expect(thingOf(row, name!)).toBeTruthy()
  })
})

describe.each(only(forAnybody))("%s", (_name, row) => {
  it("admits another user and the owner of another organization", async () => {
    for (const { token } of [stranger, partner]) expect((await send(row, { token })).status).toBe(200)
  })
})

describe.each(except(forAnybody))("%s", (_name, row) => {
  it("rejects another user and the owner of another organization, and changes no data", async () => {
    const before = await everything()
    for (const { token } of [stranger, partner]) {
      const { status, text } = await send(row, { token })
      expect(refusals(row)).toContain(status)
      expect(text).not.toContain(owner.email)
    }
    expect(await everything()).toEqual(before)
  })
})

describe.each(only(forAnyKey))("%s", (_name, row) => {
  it("admits an API key that belongs to the owner but has no scopes", async () => {
    expect((await send(row, { headers: { "x-api-key": bare.api_key } })).status).toBe(200)
  })
})

describe.each(except(forAnyKey))("%s", (_name, row) => {
  it("rejects an API key that belongs to the owner but has no scopes, and changes no data", async () => {
    const before = await everything()
    const { status } = await send(row, { headers: { "x-api-key": bare.api_key } })
    expect([401, 403]).toContain(status)
    expect(await everything()).toEqual(before)
  })
})
