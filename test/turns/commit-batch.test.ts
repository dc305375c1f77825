import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import type { Claim } from "../../schema/turn.ts"
import { EventsToPlace, type Places } from "../../src/turns/event-offsets.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { commitBatch, type Effects, type Facts } from "../fixtures/turns.ts"

let one: TestService
beforeAll(async () => {
  one = await serve()
})

const commitMany = (turns: ReadonlyArray<Facts>, effects?: Effects) => commitBatch(one.sql, turns, effects)
const commit = (facts: Facts, effects?: Effects) => commitMany([facts], effects)

const versionOf = async (id: string): Promise<number | undefined> => {
  const [row] = await one.sql<[{ version: number }?]>`select version from entity where id = ${id}`
  return row?.version
}

describe("`commit_batch`", () => {
  it("creates one entity and updates another entity in one statement", async () => {
    const [old, fresh] = [randomUUID(), randomUUID()]
    await commit({ id: old })
    await commitMany([{ id: fresh }, { id: old, expected: 1, status: "Cancelled" }])
    expect([await versionOf(fresh), await versionOf(old)]).toEqual([1, 2])
    const [row] = await one.sql`select status from entity where id = ${old}`
    expect(row?.["status"]).toBe("Cancelled")
  })

  it("applies a repeated batch once, for a batch of one turn and a batch of three turns", async () => {
    const events = [
      { channel: "c", type: "t", data: {} },
      { channel: "d", type: "t", data: {} },
    ]
    for (const size of [1, 3]) {
      await one.sql`delete from event where channel in ('c', 'd')`
      const facts = Array.from({ length: size }, () => ({ id: randomUUID(), turn: randomUUID() }))
      const [first] = await commitMany(facts, { events })
      const [again] = await commitMany(facts, { events })
      expect(first.places?.ends).toHaveLength(2)
      expect(again.places).toBeNull()
      expect(await one.sql`select 1 from event where channel in ('c', 'd')`).toHaveLength(2)
    }
  })

  it("rejects a batch that contains a turn with an outdated version, and reports the entity of this turn", async () => {
    const [id, other] = [randomUUID(), randomUUID()]
    await commit({ id })
    await commit({ id, expected: 1 })
    await expect(commitMany([{ id, expected: 1 }, { id: other }])).rejects.toMatchObject({
      code: "EI001",
      detail: JSON.stringify([id]),
    })
    expect(await versionOf(other)).toBeUndefined()
  })

  it("rejects the creation of an existing entity and the update of a missing entity", async () => {
    const [begun, gone, fine] = [randomUUID(), randomUUID(), randomUUID()]
    await commit({ id: begun })
    await expect(commitMany([{ id: begun }, { id: gone, expected: 1 }, { id: fine }])).rejects.toMatchObject({
      code: "EI001",
      detail: JSON.stringify([begun, gone]),
    })
    expect(await versionOf(gone)).toBeUndefined()
    expect(await versionOf(fine)).toBeUndefined()
  })

  it("rejects a batch that contains an already committed turn, and reports the entity of this turn", async () => {
    const repeated = { id: randomUUID(), turn: randomUUID() }
    const fresh = { id: randomUUID() }
    await commit(repeated)
    await expect(commitMany([repeated, fresh])).rejects.toMatchObject({
      code: "EI001",
      detail: JSON.stringify([repeated.id]),
    })
    expect(await versionOf(repeated.id)).toBe(1)
    expect(await versionOf(fresh.id)).toBeUndefined()
  })
})

describe("claims", () => {
  const claim = (holder: string, ...ids: ReadonlyArray<string>): Effects => ({
    claims: ids.map((canonical) => ({ canonical, kind: "order", holder })),
  })
  const put = (...claims: ReadonlyArray<Claim>) => commit({ id: randomUUID() }, { claims })
  const holderOf = async (canonical: string): Promise<string | undefined> => {
    const [row] = await one.sql<
      [{ holder: string }?]
    >`select holder from claim where canonical = ${canonical}`
    return row?.holder
  }

  it("of a turn are made for all its ids or for none, and the error names the ids that are already held", async () => {
    const winner = randomUUID()
    await commit({ id: winner }, claim(winner, "🍎", "🍊"))
    const loser = randomUUID()
    await expect(commit({ id: loser }, claim(loser, "🍇", "🍊", "🍎"))).rejects.toMatchObject({
      code: "EI002",
      detail: JSON.stringify(["🍊", "🍎"].sort()),
      hint: "[2,3]",
    })
    expect(await one.sql`select 1 from claim where holder = ${loser}`).toHaveLength(0)
    expect(await versionOf(loser)).toBeUndefined()
  })

  it("of two holders for the same id make the statement fail, and the error reports the second claim", async () => {
    const [first, second] = [randomUUID(), randomUUID()]
    await expect(
      put(
        { canonical: "twice", kind: "order", holder: first },
        { canonical: "twice", kind: "order", holder: second },
      ),
    ).rejects.toMatchObject({ code: "EI002", detail: '["twice"]', hint: "[2]" })
    expect(await holderOf("twice")).toBeUndefined()
  })

  it("that take the same id from its owner twice make the statement fail, and the error reports the second claim", async () => {
    const [owner, first, second] = [randomUUID(), randomUUID(), randomUUID()]
    const owned = { canonical: "sent twice", kind: "owned", owner_id: owner } as const
    const sent = { ...owned, kind: "transfer", from_holder: owner, held: true } as const
    await put({ ...owned, holder: owner })
    await expect(put({ ...sent, holder: first }, { ...sent, holder: second })).rejects.toMatchObject({
      code: "EI002",
      detail: '["sent twice"]',
      hint: "[2]",
    })
    expect(await holderOf("sent twice")).toBe(owner)
  })

  it("can be repeated by the same holder, in one statement and in two", async () => {
    const holder = randomUUID()
    const again = { canonical: "again", kind: "order", holder } as const
    await put(again, again)
    await put(again, { canonical: "again too", kind: "order", holder })
    expect([await holderOf("again"), await holderOf("again too")]).toEqual([holder, holder])
  })

  it("with `from_holder` can take an id that is free or held by `from_holder`, but not an id of another holder", async () => {
    const [order, buyer, other] = [randomUUID(), randomUUID(), randomUUID()]
    const paid = (canonical: string): Claim => ({
      canonical,
      kind: "owned",
      holder: buyer,
      owner_id: buyer,
      from_holder: order,
    })
    await put({ canonical: "reserved", kind: "order", holder: order })
    await put(paid("reserved"), paid("unheld"))
    expect([await holderOf("reserved"), await holderOf("unheld")]).toEqual([buyer, buyer])
    await put({ canonical: "sold", kind: "order", holder: other })
    await expect(put(paid("sold"))).rejects.toMatchObject({ code: "EI002", detail: '["sold"]' })
  })

  it("with `held` are rejected if the id is free, and accepted if `from_holder` holds the id", async () => {
    const [owner, transfer] = [randomUUID(), randomUUID()]
    const moved: Claim = {
      canonical: "given",
      kind: "transfer",
      holder: transfer,
      owner_id: owner,
      from_holder: owner,
      held: true,
    }
    await expect(put(moved)).rejects.toMatchObject({ code: "EI002", detail: '["given"]' })
    await put({ canonical: "given", kind: "owned", holder: owner, owner_id: owner })
    await put(moved)
    expect(await holderOf("given")).toBe(transfer)
  })

  it("give fifty ids to exactly fifty of a thousand concurrent turns", async () => {
    const ids = Array.from({ length: 50 }, (_, i) => `id-${i}`)
    const results = await Promise.allSettled(
      Array.from({ length: 1000 }, (_, i) => {
        const holder = randomUUID()
        return commit({ id: holder }, claim(holder, ids[i % 50]!))
      }),
    )
    const refused = results.filter((r) => r.status === "rejected")
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "EI002" })
    const [row] =
      await one.sql`select count(*)::int as claimed, count(distinct holder)::int as holders from claim where canonical like 'id-%'`
    expect(row?.["claimed"]).toBe(50)
    expect(row?.["holders"]).toBe(1000 - refused.length)
  })

  it("do not deadlock when concurrent turns claim the same ids in random order, for an order or for an owner", async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `crossed-${i}`)
    const order = randomUUID()
    await put(...ids.map((canonical): Claim => ({ canonical, kind: "order", holder: order })))
    const turn = () => {
      const [holder, buyer] = [randomUUID(), randomUUID()]
      const mixed = [...ids, ...ids.map((id) => `${id}-free`)]
        .sort(() => Math.random() - 0.5)
        .map(
          (canonical): Claim =>
            Math.random() < 0.5
              ? { canonical, kind: "order", holder }
              : { canonical, kind: "owned", holder: buyer, owner_id: buyer, from_holder: order },
        )
      return put(...mixed)
    }
    const results = await Promise.allSettled(Array.from({ length: 300 }, turn))
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "EI002" })
  })
})

describe("events of a statement", () => {
  const makeEvents = (...events: ReadonlyArray<readonly [channel: string, n: number]>) => {
    const newEvents = new EventsToPlace([
      events.map(([channel, n]) => ({ channel, type: "test", data: { n } })),
    ])
    return { newEvents, json: newEvents.json }
  }
  const stored = (prefix: string) =>
    one.sql<Array<{ channel: string; offset: number; n: number }>>`
      select channel, "offset"::int as "offset", (data->>'n')::int as n from event
       where channel like ${`${prefix}%`} order by channel, "offset"`

  it("get consecutive offsets per channel in the given order, and the statement returns these offsets", async () => {
    const round = async (...events: ReadonlyArray<readonly [string, number]>) => {
      const { json, newEvents } = makeEvents(...events)
      const [{ places }] = await one.sql<
        [{ places: Places }]
      >`select place_said(${json}::text::jsonb) as places`
      return newEvents.placed(places)[0]!.map(({ channel, offset }) => [channel, offset])
    }
    expect(await round(["n:b", 1], ["n:a", 2], ["n:b", 3])).toEqual([
      ["n:b", 1],
      ["n:a", 1],
      ["n:b", 2],
    ])
    expect(await round(["n:c", 4], ["n:b", 5], ["n:b", 6], ["n:a", 7])).toEqual([
      ["n:c", 1],
      ["n:b", 3],
      ["n:b", 4],
      ["n:a", 2],
    ])
    expect((await stored("n:")).map(({ channel, n, offset }) => [channel, offset, n])).toEqual([
      ["n:a", 1, 2],
      ["n:a", 2, 7],
      ["n:b", 1, 1],
      ["n:b", 2, 3],
      ["n:b", 3, 5],
      ["n:b", 4, 6],
      ["n:c", 1, 4],
    ])
  })

  it("are stored in the right channels even if the channel names are not sorted as in the database", async () => {
    const names = ["z:Ä", "z:b", "z:a", "z:\u{1f680}", "z:\u{fe0f}"]
    const channels = names.map((name, i) => ({ name, events: i + 1 }))
    const events = names.map((_, i) => ({ channel: i + 1, after: i, type: "test", data: { n: i } }))
    const text = JSON.stringify({ channels, events })
    const [{ places }] = await one.sql<
      [{ places: Places }]
    >`select place_said(${text}::text::jsonb) as places`
    expect(places.ends).toEqual([1, 2, 3, 4, 5])
    const rows = await stored("z:")
    expect(new Map(rows.map(({ channel, n, offset }) => [channel, [offset, n]]))).toEqual(
      new Map(names.map((name, i) => [name, [1, i]])),
    )
  })
})
