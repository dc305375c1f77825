import { expect, it } from "vitest"
import { maxRecordsPerId } from "../../schema/edit-request.ts"
import { maxIdsPerBatch } from "../../schema/lookup.ts"
import { maxRecordBytes } from "../../schema/record.ts"
import { serve } from "../fixtures/service.ts"
import { grant } from "../moves/moves.ts"

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
