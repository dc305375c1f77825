import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { makeApiKey } from "../../../src/accounts/api-keys/secrets.ts"
import { type CallOptions, serve } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"
import { grant } from "../../transfers/transfer-service.ts"

const service = await serve()
const bot = await service.user({ role: "Bot" })
const owner = await service.user()
const id = freshId()
await grant(service, owner, id)
const path = `/emoji_id/${encodeURIComponent(id)}`
const addressOf = async () =>
  (await service.call("GET", `${path}/BTC`)).body.result.map(({ data }: { data: string }) => data)

const ownAddress = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
const otherAddress = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"
const write = (address: string) => ({ body: { insert: [{ tag: "0x1003", data: address }] } })
await service.call("PATCH", path, { token: owner.token, ...write(ownAddress) })

/** An API key as a release before this rule created it: with the scopes that the role `Bot` had then. */
const key = await Effect.runPromise(makeApiKey)
await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes, made_as)
                  values (${key.id}, ${bot.id}, 'old', ${key.hash}, '{adminEmoji:load,adminEmoji:write}', 'Bot')`

const credentials: ReadonlyArray<readonly [string, CallOptions]> = [
  ["a session", { token: bot.token }],
  ["an API key from before this rule", { headers: { "x-api-key": key.text } }],
]

describe.each(credentials)("a user with the role Bot, with %s,", (_name, as) => {
  it("cannot replace the Bitcoin address of another user's id", async () => {
    expect((await service.call("PATCH", path, { ...as, ...write(otherAddress) })).status).toBe(403)
    expect(await addressOf()).toEqual([ownAddress])
  })

  it("cannot store data under a key of another user's id", async () => {
    const stored = await service.call("POST", `${path}/json/VisualizerName`, {
      ...as,
      body: { data: "mine" },
    })
    expect(stored.status).toBe(403)
  })

  it("cannot list the ids of another user", async () => {
    for (const list of ["/emoji_id", "/emoji_id/extended"]) {
      const { body, status } = await service.call("GET", `${list}?user_id=${owner.id}`, as)
      expect([status, body.scope]).toEqual([403, "adminEmoji:load"])
    }
  })
})

it("a user with the role Bot can list and edit the ids that this user owns", async () => {
  const own = freshId()
  await grant(service, bot, own)
  expect((await service.call("GET", "/emoji_id", { token: bot.token })).body).toEqual([own])
  const edited = await service.call("PATCH", `/emoji_id/${encodeURIComponent(own)}`, {
    token: bot.token,
    ...write(ownAddress),
  })
  expect(edited.status).toBe(200)
})
