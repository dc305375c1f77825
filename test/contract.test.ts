import { describe, expect, it } from "vitest"
import { parameterNames } from "../src/http/path.ts"
import { routes } from "../src/routes/index.ts"
import { contractOperations, expectContract } from "./fixtures/contract.ts"

/** Operations no row answers yet. This list only shrinks; it ends empty. */
const stillMissing: ReadonlyArray<string> = [
  "delete /api_keys/{id}",
  "delete /cart",
  "delete /cart/cart_items/{cart_item_id}",
  "delete /codes/{code_id}/pubkeys/{pubkey}",
  "delete /lootboxes/{id}",
  "delete /payment_methods/{id}",
  "delete /transfers/{transfer_id}",
  "delete /user_interests/{emoji_id}",
  "delete /users/{id}",
  "get /account",
  "get /account/load",
  "get /api_keys",
  "get /cart",
  "get /codes",
  "get /emoji",
  "get /emoji_id",
  "get /emoji_id/extended",
  "get /emoji_id/random",
  "get /emoji_id/recent",
  "get /emoji_id/search",
  "get /emoji_id/{eid}/json",
  "get /emoji_id/{eid}/json/{key}",
  "get /emoji_id/{eid}/stats",
  "get /emoji_id/{emoji_id}",
  "get /emoji_id/{emoji_id}/metadata",
  "get /emoji_id/{emoji_id}/payment",
  "get /emoji_id/{emoji_id}/rhythm",
  "get /emoji_id/{emoji_id}/{tag}",
  "get /lootbox_type",
  "get /lootboxes",
  "get /lootboxes/{id}",
  "get /nft_transfers/metadata/{token_id}",
  "get /organizations/{id}/branding",
  "get /payment_methods",
  "get /pubkeys",
  "get /redirect",
  "get /transfers",
  "get /transfers/incoming",
  "get /user_features",
  "get /user_interests",
  "get /user_interests/{emoji_id}",
  "get /users",
  "get /users/{id}",
  "get /users/{user_id}/pubkeys",
  "get /wallets",
  "patch /account",
  "patch /emoji_id/{emoji_id}",
  "patch /lootboxes/{id}",
  "patch /users/{id}",
  "post /account/2fa/backup_disable",
  "post /account/2fa/confirm",
  "post /account/2fa/disable",
  "post /account/2fa/enable",
  "post /account/2fa/sms_code",
  "post /api_keys",
  "post /auth/2fa",
  "post /auth/magic_link",
  "post /auth/token",
  "post /auth/token/refresh",
  "post /cart",
  "post /cart/checkout",
  "post /cart/checkout/{id}",
  "post /cart/convert_to_draft",
  "post /cart/promo_code",
  "post /codes/{code_id}/pubkeys/{pubkey}",
  "post /codes/{code_id}/random_yat",
  "post /emoji_id/{eid}/json/{key}",
  "post /emoji_id/{emoji_id}/generate_signature",
  "post /logout",
  "post /lootbox_type",
  "post /lootbox_type/generate",
  "post /lootboxes",
  "post /lootboxes/{id}/open",
  "post /proxy",
  "post /pubkeys",
  "post /pubkeys/{pubkey}",
  "post /transfers",
  "post /transfers/{transfer_id}/receiver_accept",
  "post /transfers/{transfer_id}/resend_code",
  "post /transfers/{transfer_id}/sender_accept",
  "post /user_interests",
  "post /users",
  "post /users/{user_id}/pubkeys/{pubkey}",
  "post /wallets",
  "put /organizations/{id}/branding",
]

const shapeOf = (method: string, path: string) =>
  `${method === "del" ? "delete" : method} ${path.replaceAll(/:\w+|\{\w+\}/g, "{}")}`
const rows = new Map(routes.map((row) => [shapeOf(row.method, row.path), row]))
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const answered = contractOperations.filter(({ method, path }) => rows.has(shapeOf(method, path)))

describe("the route table against the contract", () => {
  it("answers every operation, but for those still listed as missing", () => {
    const missing = contractOperations.filter((operation) => !answered.includes(operation)).map(nameOf)
    expect(missing.filter((name) => !stillMissing.includes(name))).toEqual([])
  })

  it("lists as missing only what the contract has", () => {
    const known = new Set(contractOperations.map(nameOf))
    expect(stillMissing.filter((name) => !known.has(name))).toEqual([])
  })

  it.each(answered.map((operation) => [nameOf(operation), operation] as const))(
    "%s takes the contract's parameters and answers 200",
    (_name, operation) => {
      const row = rows.get(shapeOf(operation.method, operation.path))!
      const named = (place: string) => operation.parameters.filter((p) => p.in === place).map((p) => p.name)
      expect(Object.keys(row.query ?? {})).toEqual(expect.arrayContaining(named("query")))
      expect(parameterNames(row.path)).toHaveLength(named("path").length)
      expect(row.body !== undefined || row.rawBody === true).toBe(named("body").length > 0)
      if (row.produces === undefined && operation.path !== "/redirect") expect(row.status ?? 200).toBe(200)
    },
  )

  it("uses every operation id once", () => {
    const ids = routes.map((row) => row.id)
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  })
})

describe("expectContract", () => {
  const wallet = { eth_address: "0x0", user_id: "00000000-0000-4000-8000-000000000000" }

  it("accepts further members and null for what is optional", () => {
    expectContract("Wallet", { ...wallet, more: 1 })
    expectContract("EidResponse", { status: true, error: null })
  })

  it("refuses a missing member, at any depth", () => {
    expect(() => expectContract("Wallet", { eth_address: "0x0" })).toThrow(/user_id: required/)
    expect(() => expectContract("LoadUser", { wallets: [{ user_id: wallet.user_id }] })).toThrow(
      /wallets\[0\]\.eth_address: required/,
    )
  })

  it("refuses another type, a value outside the enum and a text that is no uuid", () => {
    expect(() => expectContract("Wallet", { ...wallet, user_id: "me" })).toThrow(/no uuid/)
    expect(() => expectContract("WalletSyncRequest", { signature: 1, source: "x" })).toThrow(
      /expected string/,
    )
    expect(() => expectContract("WalletSyncRequest", { signature: "", source: "x" })).toThrow(/enum/)
  })
})
