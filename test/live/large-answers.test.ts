import { Effect } from "effect"
import { expect, it } from "vitest"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import { maxRecordBytes } from "../../schema/directory/records/record.ts"
import { liveLimits } from "../../schema/live-frames.ts"
import { LookupQueue } from "../../src/live/socket-lookup-queue.ts"
import type { AnyFrame } from "../fixtures/live-client.ts"
import { grant } from "../transfers/transfer-service.ts"
import { serveProtocol } from "./protocol-service.ts"

const { over, service } = await serveProtocol()
const { open } = over("memory")
const oversized = "🐙🐙🌊"

it("an id with the maximum number of records can be looked up, but not fifty times in one frame", async () => {
  await grant(service, await service.user(), oversized)
  await service.sql`insert into record (canonical, hash, tag, data)
    select ${oversized}, n::text, ${0x5001}, repeat('x', ${maxRecordBytes}) from generate_series(1, ${maxRecordsPerId}) n`
  const client = await open()
  client.send({ type: "lookup", id: "one", emoji_ids: [oversized] })
  const { results } = await client.take({ id: "one" })
  expect(results[0].result).toHaveLength(maxRecordsPerId)

  client.send({ type: "lookup", id: "many", emoji_ids: Array(liveLimits.lookupIds).fill(oversized) })
  expect(await client.take({ id: "many" })).toMatchObject({ type: "error", code: "too_large" })
  client.send({ type: "lookup", id: "others", emoji_ids: ["🌊", oversized] })
  expect((await client.take({ id: "others" })).type).toBe("records")
  client.close()
})

it("ids with too many records for one frame are rejected with `too_large`, and each can be looked up alone", async () => {
  const ids = ["🌊", "🐙", "🎈", "🎲", "🍀", "🚀", "🔥"].map((last) => `🐙🐙🐙${last}`)
  const owner = await service.user()
  for (const id of ids) await grant(service, owner, id)
  await service.sql`insert into record (canonical, hash, tag, data)
    select id, n::text, ${0x5001}, repeat('x', ${maxRecordBytes})
      from unnest(${ids}::text[]) id, generate_series(1, ${maxRecordsPerId}) n`
  const client = await open()
  client.send({ type: "lookup", id: "all", emoji_ids: ids })
  expect(await client.take({ id: "all" })).toMatchObject({ type: "error", code: "too_large" })
  for (const id of ids) {
    client.send({ type: "lookup", id, emoji_ids: [id] })
    expect((await client.take({ id })).results[0].result).toHaveLength(maxRecordsPerId)
  }
  client.close()
})

it("a lookup beyond the queue limit is rejected with `unavailable`", () => {
  const said: Array<AnyFrame> = []
  let answer = () => {}
  const queue = new LookupQueue(
    {
      address: "",
      directory: { lookup: () => Effect.succeed([]) },
      proofs: { add: Effect.succeed },
      run: (effect, done) => {
        answer = () => done(Effect.runSyncExit(effect))
      },
    },
    (frame) => void said.push(frame),
    () => false,
  )
  const ask = (id: string) => queue.add({ type: "lookup", id, emoji_ids: ["🌊"] })
  for (let n = 0; n < liveLimits.lookupsWaiting; n++) ask(`${n}`)
  ask("late")
  answer()
  ask("later")
  expect(said.map(({ code, id, type }) => [type, id, code])).toEqual([
    ["error", "late", "unavailable"],
    ["records", "0", undefined],
  ])
})

it("a slow reader gets the next lookup result only after it has read the previous result", () => {
  const answered: Array<string> = []
  let isFull = false
  const queue = new LookupQueue(
    {
      address: "",
      directory: { lookup: () => Effect.succeed([]) },
      proofs: { add: Effect.succeed },
      run: (effect, done) => done(Effect.runSyncExit(effect)),
    },
    ({ id }: AnyFrame) => {
      answered.push(id)
      isFull = true
    },
    () => isFull,
  )
  for (const id of ["0", "1", "2"]) queue.add({ type: "lookup", id, emoji_ids: ["🌊"] })
  queue.drained()
  expect(answered).toEqual(["0"])
  isFull = false
  queue.drained()
  queue.drained()
  expect(answered).toEqual(["0", "1"])
  isFull = false
  queue.drained()
  expect(answered).toEqual(["0", "1", "2"])
})
