import { beforeAll, describe, expect, it } from "vitest"
import { type CallOptions, serve, type TestService, type TestUser } from "../fixtures/service.ts"
import { codeFor, makeIds } from "../transfers/transfer-service.ts"

const nextId = makeIds(150_900)
let nodes: readonly [TestService, TestService]
let admin: TestUser
let sender: TestUser
let recipient: TestUser

beforeAll(async () => {
  const first = await serve({}, { peersPossible: true })
  nodes = [first, await serve({}, { database: first.database, peersPossible: true })]
  ;[admin, sender, recipient] = await Promise.all([first.user({ role: "Admin" }), first.user(), first.user()])
})

/**
 * Sends the same request to both processes, checks that both answer with the same status, and returns the answers.
 */
const ask = async (user: TestUser, path: string) => {
  const [one, other] = await Promise.all(nodes.map((node) => node.call("GET", path, { token: user.token })))
  expect(other!.status).toBe(one!.status)
  return { one: one!, other: other! }
}
const seenBy = async (user: TestUser) => {
  const list = await ask(user, "/emoji_id")
  const extended = await ask(user, "/emoji_id/extended")
  const account = await ask(user, "/account")
  const load = await ask(user, "/account/load")
  expect(list.other.body).toEqual(list.one.body)
  expect(extended.other.body).toEqual(extended.one.body)
  const canonicals = (items: ReadonlyArray<{ canonical_format: string }>) =>
    items.map((i) => i.canonical_format)
  expect(canonicals(load.other.body.extended_list)).toEqual(canonicals(extended.one.body))
  return {
    ids: canonicals(extended.one.body),
    blocked: extended.one.body.map((item: { blocked_until?: string }) => item.blocked_until !== undefined),
    pending: account.other.body.pending_transfers as ReadonlyArray<string>,
    incoming: load.one.body.incoming_transfers.map((t: { eid: string }) => t.eid) as ReadonlyArray<string>,
    outgoing: load.one.body.outgoing_transfers.data.map(
      (t: { status: string }) => t.status,
    ) as ReadonlyArray<string>,
    pubkeys: account.one.body.pubkeys.length as number,
  }
}
const write = (node: TestService, user: TestUser, eid: string, data: string) =>
  node.call("PATCH", `/emoji_id/${encodeURIComponent(eid)}`, {
    token: user.token,
    body: { insert: [{ tag: "0x5001", data }] },
  })
const sign = (node: TestService, user: TestUser, eid: string) =>
  node.call("POST", `/emoji_id/${encodeURIComponent(eid)}/generate_signature`, {
    token: user.token,
    body: { account: "0x52908400098527886E0F7030069857D2E4169EE7" },
  })

describe("lists and lookups of an id that is opened from a lootbox and then transferred", () => {
  it("are correct immediately after every step, in both processes", async () => {
    const eid = nextId()
    const [one, two] = nodes
    const call = (method: string, path: string, options: CallOptions) => one.call(method, path, options)
    const search = `/emoji_id/search?emoji_id=${encodeURIComponent(eid)}`
    expect((await ask(sender, search)).other.body.result.availability).toBe("Available")

    const box = await call("POST", "/lootboxes", {
      token: admin.token,
      body: { status: "Owned", yats: [eid], owner_id: sender.id },
    })
    expect((await ask(sender, search)).other.body.result.availability).toBe("Taken")
    expect((await seenBy(sender)).ids).toEqual([])
    expect((await two.call("GET", `/emoji_id/${encodeURIComponent(eid)}`)).status).toBe(404)
    await call("POST", `/lootboxes/${box.body.id}/open`, { token: sender.token })
    expect(await seenBy(sender)).toMatchObject({ ids: [eid], blocked: [false], pending: [], pubkeys: 1 })
    expect((await two.call("GET", `/emoji_id/${encodeURIComponent(eid)}`)).status).toBe(200)
    expect((await write(two, sender, eid, "mine")).status).toBe(200)

    const { body } = await call("POST", "/transfers", {
      token: sender.token,
      body: { eid, email: recipient.email, clear_on_transfer: true },
    })
    expect(await seenBy(sender)).toMatchObject({ ids: [eid], pending: [eid], outgoing: ["AwaitingSender"] })
    expect(await seenBy(recipient)).toMatchObject({ ids: [], pending: [], incoming: [eid] })
    expect((await sign(two, sender, eid)).status).toBe(409)
    const accept = async (side: string, user: TestUser, node: TestService) =>
      node.call("POST", `/transfers/${body.id}/${side}_accept`, {
        token: user.token,
        body: { code: await codeFor(one, user.email) },
      })
    await accept("sender", sender, one)
    const before = await two.call("GET", `/emoji_id/${encodeURIComponent(eid)}`)
    expect(before.body.result.map((record: { data: string }) => record.data)).toContain("mine")
    expect((await accept("receiver", recipient, one)).body).toEqual([eid])

    // This is the first request after the acceptance. The other process must already have dropped the former owner
    // from its cache.
    expect((await write(two, sender, eid, "still mine?")).status).toBe(403)
    const after = await two.call("GET", `/emoji_id/${encodeURIComponent(eid)}`)
    expect((after.body.result ?? []).map((record: { data: string }) => record.data)).not.toContain("mine")
    expect(await seenBy(sender)).toMatchObject({ ids: [], pending: [], outgoing: ["Accepted"] })
    expect(await seenBy(recipient)).toMatchObject({ ids: [eid], blocked: [true], incoming: [], pubkeys: 1 })
    expect((await sign(two, sender, eid)).status).toBeGreaterThanOrEqual(403)
    const blocked = await sign(two, recipient, eid)
    expect([blocked.status, typeof blocked.body.blocked_until]).toEqual([409, "string"])
    expect((await write(two, recipient, eid, "mine now")).status).toBe(200)
    expect((await ask(recipient, search)).one.body.result.availability).toBe("Taken")
  })
})
