import { Effect, Result } from "effect"
import { expect, it } from "vitest"
import { mayWrite } from "../../src/postgres/may-write.ts"
import { CurrentRequestTime, type RequestTime } from "../../src/postgres/request-time.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve({ POOL_SIZE: "16" })
await service.sql`create table written (n int)`
type Statement = Parameters<Sql["Service"]["rows"]>[0]

const ask = (time: RequestTime | undefined, statement: Statement) =>
  service.runtime.runPromise(
    Sql.use((sql) => sql.attempt(statement)).pipe(
      Effect.provideService(CurrentRequestTime, time),
      Effect.result,
    ),
  )
const late = (hasWritten: boolean): RequestTime => ({
  discardAt: performance.now() - 1,
  isStrict: true,
  hasWritten,
})
const inTime = (): RequestTime => ({ discardAt: Number.POSITIVE_INFINITY, isStrict: true, hasWritten: false })
const write: Statement = (q) => q`insert into written values (1)`

it("a statement of a request that has waited too long is not run", async () => {
  expect(await ask(late(false), write)).toMatchObject({
    failure: { _tag: "Unavailable", retryAfterSeconds: 1 },
  })
  expect(await service.sql`select * from written`).toHaveLength(0)
})

it("a statement of a late read is run if it does not have to wait", async () => {
  const time = { ...late(false), isStrict: false }
  expect(await ask(time, (q) => q`select 1 as n`)).toMatchObject({ success: [{ n: 1 }] })
})

it("a request that may have written something is completed, however long it has waited", async () => {
  const time = inTime()
  await ask(time, (q) => q`select n from written where n = ${1}`)
  expect(time.hasWritten).toBe(false)
  expect(Result.isSuccess(await ask(time, write))).toBe(true)
  expect(time.hasWritten).toBe(true)
  expect(Result.isSuccess(await ask({ ...late(true) }, write))).toBe(true)
  expect(await service.sql`select * from written`).toHaveLength(2)
})

it("statements that may write are recognised, and in doubt a statement counts as one", () => {
  const { sql } = service
  const isWrite = (query: object) => {
    // The query is not sent, because nothing awaits it.
    return mayWrite(query)
  }
  expect(isWrite(sql`select id from app_user where id = ${1}`)).toBe(false)
  expect(isWrite(sql`select jsonb_build_object('n', count(*)) from written`)).toBe(false)
  expect(isWrite(sql`select commit_batch(${"[]"})`)).toBe(true)
  expect(isWrite(sql`with x as (delete from written returning n) select * from x`)).toBe(true)
  expect(isWrite(sql`select * from ${sql`begin_operation(${"a"})`}`)).toBe(true)
  expect(isWrite({})).toBe(true)
})

const isWriting = (name: string) => mayWrite({ strings: [`select ${name}()`], args: [] })
const functionNames = async (isVolatile: boolean) => {
  const rows = await service.sql<Array<{ name: string }>>`
    select distinct proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where nspname = 'public' and (provolatile = 'v') = ${isVolatile} and prokind = 'f' order by 1`
  return rows.map(({ name }) => name)
}

it("a function counts as one that writes if it can write, except the one that only counts requests", async () => {
  const names = (await functionNames(true)).filter((name) => name.includes("_"))
  expect(names).toContain("commit_batch")
  expect(names.filter((name) => !isWriting(name))).toEqual(["take_rate"])
})

it("a function that cannot write counts as a read", async () => {
  const names = await functionNames(false)
  expect(names).toContain("prompt_is_due")
  expect(names.filter(isWriting)).toEqual([])
})
