import { Effect } from "effect"
import { expect, it } from "vitest"
import { maxRecordsPerId } from "../../../schema/directory/edit-request.ts"
import { emojis } from "../../../schema/directory/emoji.ts"
import { maxIdsPerBatch } from "../../../schema/directory/lookup.ts"
import { maxRecordBytes } from "../../../schema/directory/records/record.ts"
import { lookupMany } from "../../../src/directory/lookup/batch.ts"
import { Lookups } from "../../../src/directory/lookup/lookups.ts"
import { SignedAnswers } from "../../../src/directory/lookup/signed-answers.ts"
import { serve } from "../../fixtures/service.ts"
import { grant } from "../../transfers/transfer-service.ts"

const largeId = "🐙🐙🌊"

it("the response to a batch lookup that repeats an id with very large records stays below 10 MiB", async () => {
  const service = await serve()
  await grant(service, await service.user(), largeId)
  await service.sql`insert into record (canonical, hash, tag, data)
    select ${largeId}, n::text, ${0x5001}, repeat('x', ${maxRecordBytes}) from generate_series(1, ${maxRecordsPerId}) n`
  const lookUp = (emoji_ids: ReadonlyArray<string>) =>
    service.call("POST", "/emoji_id/lookup", { body: { emoji_ids } })
  const { body, status, text } = await lookUp(Array(maxIdsPerBatch).fill(largeId))
  expect(status).toBe(200)
  expect(text.length).toBeLessThan(10 * 1024 * 1024)
  expect(body.result).toHaveLength(maxIdsPerBatch)
  expect(body.result[0].result).toHaveLength(maxRecordsPerId)
  expect(body.result.at(-1)).toMatchObject({
    emoji_id: largeId,
    status: false,
    error: { code: "too_large" },
  })
})

it("a batch lookup of ids with very large records stops reading ids when the response is full", async () => {
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
    lookupMany(ids, false, Effect.void).pipe(
      Effect.provideService(Lookups, { view } as Lookups["Service"]),
      Effect.provideService(SignedAnswers, {} as SignedAnswers["Service"]),
    ),
  )
  const results = answers.map((text) => JSON.parse(text))
  expect(results.map(({ emoji_id }) => emoji_id)).toEqual(ids)
  expect(results.map(({ error }) => error?.code).slice(0, 4)).toEqual([
    undefined,
    undefined,
    undefined,
    "too_large",
  ])
  expect(results.at(-1)).toMatchObject({ status: false, error: { code: "too_large" } })
  expect(read.length).toBeLessThan(maxIdsPerBatch / 2)
})
