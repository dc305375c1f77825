import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { IdNotices } from "../../src/history/id-notices.ts"
import { render } from "../../src/mail/mail-texts.ts"
import {
  bitcoin,
  type DirectoryService,
  otherBitcoin,
  serveDirectory,
} from "../directory/directory-service.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import type { TestUser } from "../fixtures/service.ts"
import { mails, makeIds } from "../transfers/transfer-service.ts"

const nextId = makeIds(135_000)
let nodes: readonly [DirectoryService, DirectoryService]

beforeAll(async () => {
  // With this long interval, only the tests start rounds.
  const environment = { SWEEP_INTERVAL_MS: "60000" }
  const first = await serveDirectory(environment, { peersPossible: true })
  nodes = [first, await serveDirectory(environment, { database: first.database, peersPossible: true })]
})

const round = (node: DirectoryService = nodes[0]) =>
  node.runtime.runPromise(Effect.flatMap(IdNotices, (notices) => notices.round))
const registered = async (owner: TestUser) => {
  const id = nextId()
  await nodes[0].register(id, owner)
  return id
}
const insert = (id: string, owner: TestUser, tag: string, data: string) =>
  nodes[0].edit(id, owner, { insert: [{ tag, data }] })
/** The texts of the mail about changed ids, oldest first. */
const noticesTo = async ({ email }: TestUser) =>
  (await mails(nodes[0], email))
    .filter(({ kind }) => kind === "emoji_ids_changed")
    .map((mail) => render(mail).text)
    .reverse()
const passAnHour = ({ id }: TestUser) =>
  nodes[0]
    .sql`update id_mail_turn set sent_at = sent_at - interval '1 hour', due_at = due_at - interval '1 hour'
                where user_id = ${id}`

describe("the owner of an emoji id", () => {
  it("receives a live event for each change of one of their ids, also when the id is removed", async () => {
    const owner = await nodes[0].user()
    const id = await registered(owner)
    await round()
    const client = await liveSocket(nodes[1].url)()
    client.send({ type: "connect", token: owner.token })
    client.send({ type: "subscribe", channel: "emoji_ids" })
    const { state } = await client.take({ type: "subscribed" })
    expect(state).toMatchObject([{ emoji_id: id, version: 1 }])
    await insert(id, owner, "0x5001", "hello")
    await nodes[0].call("DELETE", `/emoji_id/${encodeURIComponent(id)}`, { token: nodes[0].admin.token })
    await round()
    for (const [version, kind] of [
      [2, "records"],
      [3, "released"],
    ]) {
      const { data } = await client.take({ type: "event", event: "emoji_ids.changed" })
      expect(data).toEqual({ emoji_id: id, version, kind, at: expect.any(String) })
    }
    client.close()
    expect(await noticesTo(owner)).toEqual([expect.stringContaining(`${id}, `)])
    expect((await noticesTo(owner))[0]).toContain("removed from the directory")
  })

  it("gets at most one mail an hour, from all processes, and the next one has all changes in between", async () => {
    const owner = await nodes[0].user()
    const [first, second] = [await registered(owner), await registered(owner)]
    await insert(first, owner, "0x5001", "not about payments")
    await round()
    expect(await noticesTo(owner)).toEqual([])

    await insert(first, owner, "0x1003", otherBitcoin)
    await Promise.all(nodes.map(round))
    const [harmless] = await noticesTo(owner)
    expect(harmless).toContain(`added 0x1003 ${otherBitcoin}`)
    expect(harmless).toContain("If this was not you")

    await insert(second, owner, "0x1003", bitcoin)
    await insert(first, owner, "0x1003", bitcoin)
    await Promise.all(nodes.map(round))
    expect(await noticesTo(owner)).toHaveLength(1)
    await passAnHour(owner)
    await Promise.all(nodes.map(round))
    const all = await noticesTo(owner)
    expect(all).toHaveLength(2)
    for (const id of [first, second]) expect(all[1]).toContain(`${id}, `)
    expect(all[1]).toContain(`added 0x1003 ${bitcoin}; removed 0x1003 ${otherBitcoin}`)
    await passAnHour(owner)
    await round()
    expect(await noticesTo(owner)).toHaveLength(2)
  })

  it("gets the mail at the address before, while a new address is not confirmed", async () => {
    const owner = await nodes[0].user()
    const id = await registered(owner)
    const other = { ...owner, email: `new-${owner.email}` }
    await nodes[0]
      .sql`update app_user set email = ${other.email}, email_verified_at = null where id = ${owner.id}`
    await insert(id, owner, "0x1003", bitcoin)
    await round()
    expect([await noticesTo(owner), await noticesTo(other)]).toEqual([[expect.stringContaining(id)], []])
  })

  it("reads in the mail how many changes it does not list, and of which ids", async () => {
    const owner = await nodes[0].user()
    const id = await registered(owner)
    for (let n = 0; n < 16; n++) {
      await insert(id, owner, "0x1003", bitcoin)
      const { body } = await nodes[0].lookup(id)
      await nodes[0].edit(id, owner, { delete: [body.result[0].hash] })
    }
    await round()
    const [text] = await noticesTo(owner)
    expect(text).toContain("There were 2 more changes.")
    expect(text).toContain(`${id} (32)`)
  })
})
