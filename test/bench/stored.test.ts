import { describe, expect, it } from "vitest"
import { canonicalAt, note, storeIds, webPage } from "../../bench/stored/ids.ts"
import { storePeople, userIdAt } from "../../bench/stored/people.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { serve } from "../fixtures/service.ts"

describe("the ids that the bench stores", () => {
  it("are canonical, and different numbers give different ids", () => {
    const numbers = [0, 1, 446, 447, 99_999, 1_000_000, 39_000_000_000]
    const ids = numbers.map((n) => canonicalAt(n))
    expect(new Set(ids).size).toBe(numbers.length)
    for (const id of ids) expect(parseEmojiId(id)).toMatchObject({ canonical: id, length: 4 })
  })

  it("are found by the service like purchased ids", async () => {
    const service = await serve()
    await storePeople(service.sql, 3)
    await storeIds(service.sql, { ids: 1_000, owners: 3, records: [webPage, note] })
    for (const n of [0, 1, 998, 999]) {
      const { body, status } = await service.call("GET", `/emoji_id/${encodeURIComponent(canonicalAt(n))}`)
      expect(status).toBe(200)
      expect(body.result.map(({ tag }: { tag: string }) => tag)).toEqual([webPage.tag, note.tag])
    }
    const [claim] = await service.sql`select * from claim where canonical = ${canonicalAt(5)}`
    expect(claim).toMatchObject({ kind: "owned", owner_id: userIdAt(2), holder: userIdAt(2) })
    expect((await service.call("GET", `/emoji_id/${encodeURIComponent(canonicalAt(1_000))}`)).status).toBe(
      404,
    )
  })
})
