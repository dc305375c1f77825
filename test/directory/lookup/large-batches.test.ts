import { Effect } from "effect"
import { expect, it } from "vitest"
import { maxRecordsPerId } from "../../../schema/directory/edit-request.ts"
import { emojis } from "../../../schema/directory/emoji.ts"
import { maxIdsPerBatch } from "../../../schema/directory/lookup.ts"
import { maxRecordBytes } from "../../../schema/directory/record.ts"
import { lookupMany } from "../../../src/directory/lookup/batch.ts"
import { Lookups } from "../../../src/directory/lookup/lookups.ts"
import { serve } from "../../fixtures/service.ts"
import { grant } from "../../transfers/transfer-service.ts"

const crowded = "🐙🐙🌊"

it("an id with all the records it may have does not fill an answer again and again", async () => {
  const service = await serve()
  await grant(service, await service.user(), crowded)
  await service.sql`insert into record (canonical, hash, tag, data)
    select ${crowded}, n::text, ${0x5001}, repeat('x', ${maxRecordBytes}) from generate_series(1, ${maxRecordsPerId}) n`
  const ask = (emoji_ids: ReadonlyArray<string>) =>
    service.call("POST", "/emoji_id/lookup", { body: { emoji_ids } })
  const { body, status, text } = await ask(Array(maxIdsPerBatch).fill(crowded))
  expect(status).toBe(200)
  expect(text.length).toBeLessThan(10 * 1024 * 1024)
  expect(body.result).toHaveLength(maxIdsPerBatch)
  expect(body.result[0].result).toHaveLength(maxRecordsPerId)
  expect(body.result.at(-1)).toMatchObject({
    emoji_id: crowded,
    status: false,
    error: { code: "too_large" },
  })
})

it("a hundred such ids are not all read for an answer that has room for a few", async () => {
  const ids = emojis.slice(0, maxIdsPerBatch).map(({ canonical }) => canonical)
  const record = { tag: "0x5001", data: "x".repeat(maxRecordBytes * maxRecordsPerId), hash: "" }
  const answer = {
    own: "ETag: 1",
    body: JSON.stringify({ status: true, result: [record], error: null, stats: [] }),
  }
  const read: Array<string> = []
  const view: Lookups["Service"]["view"] = ({ canonical }) => {
    read.push(canonical)
    return Effect.succeed(answer)
  }
  const answers = await Effect.runPromise(
    Effect.provideService(lookupMany(ids), Lookups, { view } as Lookups["Service"]),
  )
  const told = answers.map((text) => JSON.parse(text))
  expect(told.map(({ emoji_id }) => emoji_id)).toEqual(ids)
  expect(told.map(({ error }) => error?.code).slice(0, 4)).toEqual([
    undefined,
    undefined,
    undefined,
    "too_large",
  ])
  expect(told.at(-1)).toMatchObject({ status: false, error: { code: "too_large" } })
  expect(read.length).toBeLessThan(maxIdsPerBatch / 2)
})
