import { randomUUID } from "node:crypto"
import { Effect, Result } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { EntityStore, type TurnCommit } from "../../actors/ports.ts"
import type { TurnEffects } from "../../schema/turn.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

let service: TestService
let store: EntityStore["Service"]
beforeAll(async () => {
  service = await serve()
  store = await service.runtime.runPromise(EntityStore)
})

const turn = (effects: TurnEffects = {}, facts: Partial<TurnCommit> = {}): TurnCommit => ({
  kind: "order",
  id: randomUUID(),
  turn: randomUUID(),
  expected: 0,
  value: "Draft",
  context: {},
  format: 1,
  columns: { status: "Draft", owner_id: null, peer_id: null, subject: null, due_at: null },
  effects,
  ...facts,
})
const claim = (canonical: string, facts: Partial<TurnCommit> = {}) => {
  const id = randomUUID()
  return turn({ claims: [{ canonical, kind: "order", holder: id }] }, { id, ...facts })
}
const commit = (turns: ReadonlyArray<TurnCommit>) =>
  Promise.all(turns.map((one) => service.runtime.runPromise(Effect.result(store.commit(one)))))
const commitsOf = async (turns: ReadonlyArray<TurnCommit>) =>
  service.sql<Array<{ id: string; xid: string }>>`
    select id, xmin::text as xid from entity where id = any(${turns.map(({ id }) => id)}) order by id`

it("a turn that waits for a locked row does not delay other turns", async () => {
  const locked = turn()
  await commit([locked])
  let late: ReturnType<typeof commit> | undefined
  await service.sql.begin(async (sql) => {
    await sql`select 1 from entity where id = ${locked.id} for update`
    late = commit([turn({}, { id: locked.id, expected: 1 })])
    await expect.poll(() => waiting(service)).toHaveLength(1)
    const [other] = await commit([turn()])
    expect(other).toMatchObject({ _tag: "Success" })
  })
  expect(await late).toMatchObject([{ _tag: "Success" }])
})

describe("concurrent turns", () => {
  it("share transactions, and each turn gets its own events with their offsets", async () => {
    const channel = `order:${randomUUID()}`
    const turns = Array.from({ length: 60 }, (_, n) => {
      const own = { channel: `order:${randomUUID()}`, type: "test.own", data: { n } }
      return turn({ events: [{ channel, type: "test.shared", data: { n } }, own] })
    })
    const committed = (await commit(turns)).map(Result.getOrThrow)
    for (const [n, events] of committed.entries()) {
      const published = events
        .map(({ channel: at, data, type }) => ({ at, data, type }))
        .sort((a, b) => a.type.localeCompare(b.type))
      expect(published).toEqual([
        { at: turns[n]!.effects.events![1]!.channel, data: { n }, type: "test.own" },
        { at: channel, data: { n }, type: "test.shared" },
      ])
    }
    const offsets = committed.flatMap((events) =>
      events
        .filter((event) => event.channel === channel)
        .map(({ data, offset }) => ({ offset, ...(data as { n: number }) })),
    )
    const stored =
      await service.sql`select "offset", data from event where channel = ${channel} order by "offset"`
    expect(stored).toHaveLength(60)
    for (const { n, offset } of offsets) expect(stored[offset - 1]?.["data"]).toEqual({ n })
    const rows = await commitsOf(turns)
    expect(rows).toHaveLength(60)
    expect(new Set(rows.map(({ xid }) => xid)).size).toBeLessThan(20)
  })

  it("take an id from its owner only once", async () => {
    const [canonical, owner] = [`sent-${randomUUID()}`, randomUUID()]
    await commit([turn({ claims: [{ canonical, kind: "owned", holder: owner, owner_id: owner }] })])
    const transfer = () => {
      const id = randomUUID()
      const taken = { canonical, kind: "transfer", owner_id: owner, from_holder: owner, held: true } as const
      return turn({ claims: [{ ...taken, holder: id }] }, { id, kind: "transfer" })
    }
    // The first turn, which claims nothing, runs immediately. The other turns wait and share the next statement.
    const others = Array.from({ length: 20 }, transfer)
    const [, ...begun] = await commit([turn(), ...others])
    expect(begun.filter(Result.isSuccess)).toHaveLength(1)
    const [stored] = await commitsOf(others)
    expect(await service.sql`select holder from claim where canonical = ${canonical}`).toEqual([
      { holder: stored?.id },
    ])
  })

  it("are rejected only if their id is held or their version is outdated; all other turns are committed", async () => {
    const taken = `taken-${randomUUID()}`
    const known = turn()
    const [first] = await commit([claim(taken)])
    expect(first && Result.isSuccess(first)).toBe(true)
    await commit([known])
    const turns = Array.from({ length: 60 }, (_, n) => {
      if (n % 10 === 3) return claim(taken)
      if (n % 10 === 7) return turn({}, { id: known.id, expected: 5 + n })
      return claim(`free-${randomUUID()}`)
    })
    const results = await commit(turns)
    for (const [n, result] of results.entries()) {
      if (n % 10 === 3)
        expect(Result.isFailure(result) && result.failure).toEqual({ _tag: "IdsTaken", canonicals: [taken] })
      else if (n % 10 === 7)
        expect(Result.isFailure(result) && result.failure).toEqual({ _tag: "VersionConflict" })
      else expect(Result.isSuccess(result)).toBe(true)
    }
    expect(await commitsOf(turns.filter((_, n) => n % 10 !== 7))).toHaveLength(48)
  })

  it("that claim the same id fail with `IdsTaken`, except for one turn", async () => {
    const wanted = `wanted-${randomUUID()}`
    const results = await commit(Array.from({ length: 30 }, () => claim(wanted)))
    expect(results.filter(Result.isSuccess)).toHaveLength(1)
    for (const result of results)
      if (Result.isFailure(result)) expect(result.failure).toEqual({ _tag: "IdsTaken", canonicals: [wanted] })
  })

  it("that claim overlapping ids are never rejected because of an id that stays free", async () => {
    const ids = Array.from({ length: 12 }, () => `chain-${randomUUID()}`)
    const turns = Array.from({ length: 44 }, (_, n) => {
      const id = randomUUID()
      const wanted = [ids[n % 12]!, ids[(n + 1 + (n % 3)) % 12]!]
      return turn({ claims: wanted.map((canonical) => ({ canonical, kind: "order", holder: id })) }, { id })
    })
    const results = await commit(turns)
    const held = new Map(
      (await service.sql`select canonical, holder from claim where canonical = any(${ids})`).map((row) => [
        row["canonical"],
        row["holder"],
      ]),
    )
    for (const [n, result] of results.entries()) {
      const { effects, id } = turns[n]!
      const wanted = effects.claims!.map(({ canonical }) => canonical)
      if (Result.isSuccess(result)) expect(wanted.map((one) => held.get(one))).toEqual([id, id])
      else {
        const { canonicals = [] } = result.failure as { canonicals?: ReadonlyArray<string> }
        expect(canonicals.length).toBeGreaterThan(0)
        expect(canonicals.filter((one) => !held.has(one))).toEqual([])
        expect(wanted.map((one) => held.get(one))).not.toContain(id)
      }
    }
    expect(results.filter(Result.isSuccess).length * 2).toBe(held.size)
  })

  it("that give the same id to the same owner succeed only if their entity holds the id", async () => {
    const { id: owner } = await service.user()
    for (let round = 0; round < 5; round++) {
      const held = claim(`late-${randomUUID()}`)
      const { canonical } = held.effects.claims![0]!
      await commit([held])
      const own = (from_holder: string, facts: Partial<TurnCommit>) =>
        turn({ claims: [{ canonical, kind: "owned", holder: owner, owner_id: owner, from_holder }] }, facts)
      const late = randomUUID()
      const [, , , first, second] = await commit([
        ...Array.from({ length: 3 }, () => turn()),
        own(held.id, { id: held.id, expected: 1 }),
        own(late, { id: late }),
      ])
      expect(first && Result.isSuccess(first)).toBe(true)
      expect(second && Result.isFailure(second) && second.failure).toEqual({
        _tag: "IdsTaken",
        canonicals: [canonical],
      })
    }
  })

  it("are committed even if another turn is rejected because it exceeds a limit", async () => {
    const user = await service.user()
    const free = (count: number) => turn({ free_ids: [{ user_id: user.id, count }] })
    const turns = Array.from({ length: 20 }, (_, n) => (n === 11 ? free(1_000) : turn()))
    const results = await commit(turns)
    for (const [n, result] of results.entries())
      if (n === 11)
        expect(Result.isFailure(result) && result.failure).toEqual({
          _tag: "LimitReached",
          limit: "free_ids",
        })
      else expect(Result.isSuccess(result)).toBe(true)
    expect(await commitsOf(turns)).toHaveLength(19)
  })

  it("that book money or release ids do not mix up their ledger lines and claims", async () => {
    const held = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const one = claim(`held-${randomUUID()}`)
        await commit([one])
        return one
      }),
    )
    const turns = held.map((one, n) =>
      turn(
        n % 2 === 0
          ? { releases: one.effects.claims!.map(({ canonical }) => canonical) }
          : {
              ledger: [
                { account: "funds:sandbox", cents: 100 + n, reference: one.turn },
                { account: "sales", cents: -100 - n, reference: one.turn },
              ],
            },
        { id: one.id, expected: 1 },
      ),
    )
    expect((await commit(turns)).every(Result.isSuccess)).toBe(true)
    for (const [n, one] of held.entries()) {
      const claims = await service.sql`select 1 from claim where holder = ${one.id}`
      expect(claims).toHaveLength(n % 2)
      const [books] = await service.sql`
        select sum(l.cents) filter (where l.account = 'funds:sandbox')::int as funds
          from journal j join ledger_line l on l.journal_id = j.id where j.order_id = ${one.id}`
      expect(books?.["funds"] ?? null).toBe(n % 2 === 0 ? null : 100 + n)
    }
  })
})
