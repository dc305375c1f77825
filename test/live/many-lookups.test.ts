import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import type { LiveClient } from "../fixtures/live-client.ts"
import { serveProtocol } from "./protocol-service.ts"

const { over, service } = await serveProtocol()
const { open } = over("memory")
const questions = 300

beforeAll(async () => {
  await service.sql.unsafe(`
    create sequence reads;
    alter function live_lookup(text) rename to live_lookup_uncounted;
    create function live_lookup(asked text) returns jsonb language plpgsql as $$
    begin
      perform nextval('reads');
      return live_lookup_uncounted(asked);
    end $$`)
})
const reads = async () => {
  const [row] = await service.sql<[{ n: number }]>`select last_value::int as n from reads`
  return row.n
}

describe("a client that sends 300 lookups at once", () => {
  const flood = async () => {
    const client = await open()
    for (let n = 0; n < questions; n++) client.send({ type: "lookup", id: `${n}`, emoji_ids: ["🐙🎈"] })
    return client
  }

  it("gets all results in order, and does not delay the lookup of another client", async () => {
    const wallet = await open()
    const crawler = await flood()
    const answers = () => crawler.frames.filter(({ type }) => type === "records")
    wallet.send({ type: "lookup", id: "mine", emoji_ids: ["🚀🌊"] })
    await wallet.take({ id: "mine" })
    expect(answers().length).toBeLessThan(questions / 2)
    await crawler.take({ id: `${questions - 1}` })
    expect(answers().map(({ id }) => Number(id))).toEqual([...Array(questions).keys()])
    wallet.close()
    crawler.close()
  })

  it("causes at most one database read if it disconnects immediately", async () => {
    const before = await reads()
    const wallet = await open()
    const crawler = await flood()
    crawler.close()
    wallet.send({ type: "lookup", id: "mine", emoji_ids: ["🚀🌊"] })
    await wallet.take({ id: "mine" })
    wallet.send({ type: "lookup", id: "again", emoji_ids: ["🚀🌊"] })
    await wallet.take({ id: "again" })
    expect((await reads()) - before).toBeLessThanOrEqual(3)
    wallet.close()
  })
})

describe("a client that sends 125 subscriptions at once", () => {
  const emoji = ["🐙", "🎈", "🚀", "🌊", "🔥"]
  const ids = emoji.flatMap((a) => emoji.flatMap((b) => emoji.map((c) => a + b + c)))
  const askedFor = async (leave: (crawler: LiveClient) => void) => {
    const before = await reads()
    const wallet = await open()
    const crawler = await open()
    leave(crawler)
    wallet.send({ type: "subscribe", channel: "emoji_id:🍕🍕" })
    await wallet.take({ type: "subscribed" })
    wallet.close()
    return (await reads()) - before
  }

  it("causes fewer than ten database reads if it disconnects immediately", async () => {
    const count = await askedFor((crawler) => {
      for (const id of ids) crawler.send({ type: "subscribe", channel: `emoji_id:${id}` })
      crawler.close()
    })
    expect(count).toBeLessThan(10)
  })

  it("causes fewer than ten database reads if all subscriptions are for one channel", async () => {
    const count = await askedFor((crawler) => {
      for (const offset of ids.keys())
        crawler.send({ type: "subscribe", channel: "emoji_id:🍀🍀", epoch: randomUUID(), offset })
    })
    expect(count).toBeLessThan(10)
  })
})
