import { Effect, Layer, Logger, ManagedRuntime, Result } from "effect"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { connect } from "../../src/postgres/client.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { createDatabase } from "../fixtures/database.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

/**
 * Ends all other sessions of a database. Waits until they have ended, because they may run statements until then.
 */
const endSessions = async (sql: TestService["sql"], database: string) => {
  const rows = await sql<Array<{ pid: number }>>`
    select pid from pg_stat_activity where datname = ${database} and pid <> pg_backend_pid()`
  const pids = rows.map(({ pid }) => pid)
  await sql`select pg_terminate_backend(pid, 60000) from unnest(${pids as never}::int[]) pid`
}

const run = <A, E>(use: (sql: Sql["Service"]) => Effect.Effect<A, E>) =>
  service.runtime.runPromise(Effect.flatMap(Sql, use).pipe(Effect.result))

describe("values in the database", () => {
  it.each([
    ["text[]", ["a", 'quo"te', "back\\slash", "com,ma", "{brace}", "", "NULL", null, "🚀 🌊"]],
    ["int[]", [1, -2, null]],
    ["bigint[]", [1, 9_007_199_254_740_991]],
    ["boolean[]", []],
    ["uuid[]", ["6f2c8f0e-3d0b-4d6f-9a52-0d8f6f7f1c11"]],
    ["timestamptz[]", ["2026-11-15T01:02:03.004Z"]],
  ])("of type %s are read as they were written", async (type, value) => {
    const result = await run((sql) =>
      sql.rows<{ value: unknown }>((q) => q`select ${value as never}::${q.unsafe(type)} as value`),
    )
    expect(Result.isSuccess(result) && result.success[0]?.value).toEqual(value)
  })
  it("of type timestamptz are read as ISO strings, and of type bigint as numbers", async () => {
    const result = await run((sql) =>
      sql.rows(
        (q) =>
          q`select '2026-01-02 03:04:05.678+02'::timestamptz as at, 12345678901::bigint as big, null::timestamptz as none`,
      ),
    )
    expect(Result.isSuccess(result) && result.success[0]).toEqual({
      at: "2026-01-02T01:04:05.678Z",
      big: 12_345_678_901,
      none: null,
    })
  })
  it("are read in the same form and with isolation level `read committed`, whatever session defaults the database has", async () => {
    const { database } = service
    if (!("database" in database)) throw new Error("the test database must be reached by its socket")
    const settings = [
      "datestyle = 'SQL, DMY'",
      "timezone = 'Asia/Tokyo'",
      "bytea_output = 'escape'",
      "default_transaction_isolation = 'serializable'",
    ]
    for (const setting of settings)
      await service.sql.unsafe(`alter database ${database.database} set ${setting}`)
    const sql = connect({ connection: database, poolSize: 1, statementTimeoutMs: 5000 })
    const [row] = await sql`
      select '2026-11-05T06:07:08Z'::timestamptz as at, array['2026-11-05T06:07:08Z']::timestamptz[] as times,
        '\\x00ff41'::bytea as bytes, current_setting('transaction_isolation') as isolation`
    await sql.end()
    expect(row).toEqual({
      at: "2026-11-05T06:07:08.000Z",
      times: ["2026-11-05T06:07:08.000Z"],
      bytes: Buffer.from([0, 255, 65]),
      isolation: "read committed",
    })
  })
})

describe("a statement", () => {
  it("that must not be executed twice is retried if the database rolled it back because of a deadlock", async () => {
    await service.sql.unsafe(`
      create sequence tries;
      create function deadlock_first() returns bigint language plpgsql as $$
      declare n bigint := nextval('tries');
      begin
        if n = 1 then raise exception 'deadlock detected' using errcode = '40P01'; end if;
        return n;
      end $$`)
    const result = await run((sql) => sql.once((q) => q`select deadlock_first() as n`))
    expect(Result.isSuccess(result) && result.success[0]).toEqual({ n: 2 })
  })

  it("that exceeds a `lock_timeout` of the operator gives 503 with Retry-After", async () => {
    const impatient = await serve()
    const { token } = await impatient.user()
    const [{ name } = { name: "" }] = await impatient.sql`select current_database() as name`
    await impatient.sql.unsafe(`alter database ${name} set lock_timeout = '20ms'`)
    await endSessions(impatient.sql, name)
    const register = () => impatient.call("POST", "/user_interests", { token, body: { emoji_id: "🦊🦊" } })
    const [refused] = await impatient.sql.begin(async (sql) => {
      await sql`lock table user_interest`
      return [await register()]
    })
    expect([refused?.status, refused?.headers.get("retry-after")]).toEqual([503, "1"])
    expect((await register()).status).toBe(200)
  })

  it("that the database rejects fails with the SQLSTATE and the name of the constraint", async () => {
    const result = await run((sql) =>
      sql.attempt((q) => q`insert into app_user (email) values ('twice@example.com'), ('twice@example.com')`),
    )
    expect(Result.isFailure(result) && result.failure).toMatchObject({
      _tag: "SqlRefused",
      sqlstate: "23505",
      constraint: "app_user_email_key",
    })
  })
  it("that violates a constraint is reported with the name of the constraint and without the values", async () => {
    const died = await service.runtime.runPromise(
      Effect.flatMap(Sql, (sql) =>
        sql.rows((q) => q`insert into app_user (email) values ('Loud@Example.com')`),
      ).pipe(Effect.catchDefect((defect) => Effect.succeed(String(defect)))),
    )
    expect(died).toBe("SqlRefused: 23514 app_user_email_check")
  })
  it("returns all its rows if the previous statement of the connection failed after some rows", async () => {
    const single = await serve({ POOL_SIZE: "1" })
    const ask = <Row>(use: (sql: Sql["Service"]) => Effect.Effect<Row, unknown>) =>
      single.runtime.runPromise(Effect.flatMap(Sql, use).pipe(Effect.result))
    for (let round = 0; round < 3; round++) {
      const failed = await ask((sql) => sql.once((q) => q`select 1 / (4 - n) from generate_series(1, 9) n`))
      expect(Result.isFailure(failed) && failed.failure).toMatchObject({ sqlstate: "22012" })
      const next = await ask((sql) => sql.rows((q) => q`select n from generate_series(1, 2) n`))
      expect(Result.isSuccess(next) && next.success).toEqual([{ n: 1 }, { n: 2 }])
    }
  })
  it("that exceeds the statement timeout fails with `Unavailable` and is not retried", async () => {
    await service.sql`create sequence attempts`
    // This is a pool without a service: with this timeout, a service could not start on a busy machine.
    const hasty = ManagedRuntime.make(
      Sql.layer({ connection: service.database, poolSize: 1, statementTimeoutMs: 200 }),
    )
    const result = await hasty.runPromise(
      Sql.use((sql) => sql.rows((q) => q`select nextval('attempts'), pg_sleep(30)`)).pipe(Effect.result),
    )
    await hasty.dispose()
    expect(Result.isFailure(result) && result.failure).toMatchObject({ _tag: "Unavailable" })
    expect(await service.sql`select last_value from attempts`).toEqual([{ last_value: 1 }])
  })
})

describe("the connections of a pool", () => {
  /** Runs work on a pool without a service, because the statements of a service would use connections too. */
  const at = async <A>(poolSize: number, use: (sql: Sql["Service"]) => Effect.Effect<A, unknown>) => {
    const runtime = ManagedRuntime.make(
      Sql.layer({ connection: service.database, poolSize, statementTimeoutMs: 60_000 }),
    )
    try {
      return await runtime.runPromise(Sql.use(use))
    } finally {
      await runtime.dispose()
    }
  }
  const backend = (sql: Sql["Service"], seconds: number) =>
    Effect.map(
      sql.rows<{ pid: number }>((q) => q`select pg_backend_pid() as pid, pg_sleep(${seconds})`),
      ([row]) => row?.pid,
    )

  it("are opened for concurrent statements up to the pool size, and each runs an equal share of the statements", async () => {
    // The clock is stopped, because a connection counts as blocked if its statement takes too long.
    vi.useFakeTimers({ toFake: ["performance"] })
    try {
      const pids = await at(3, (sql) =>
        Effect.forEach(Array(9).fill(0.1), (seconds) => backend(sql, seconds), { concurrency: "unbounded" }),
      )
      const shares = [...new Set(pids)].map((pid) => pids.filter((one) => one === pid).length)
      expect(shares).toEqual([3, 3, 3])
    } finally {
      vi.useRealTimers()
    }
  })
  it("are limited to one if the statements run one after another", async () => {
    const pids = await at(8, (sql) => Effect.forEach(Array(30).fill(0), () => backend(sql, 0)))
    expect(new Set(pids).size).toBe(1)
  })
  it("each belong to a separate client object with at most one connection", async () => {
    const clients = new Set<{ readonly options: { readonly max: number } }>()
    await at(3, (sql) =>
      Effect.forEach(
        Array(6).fill(0.1),
        (seconds) =>
          sql.rows((q) => {
            clients.add(q as unknown as { readonly options: { readonly max: number } })
            return q`select pg_sleep(${seconds})`
          }),
        { concurrency: "unbounded" },
      ),
    )
    expect(clients.size).toBe(3)
    for (const { options } of clients) expect(options.max).toBe(1)
  })
})

describe("a failed statement", () => {
  const failing = (code: string) => {
    const error = Object.assign(new Error(`connect ${code}`), { code })
    return run((sql) => sql.once(() => Promise.reject(error) as never))
  }
  it.each(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EAI_AGAIN", "EADDRNOTAVAIL", "EMFILE"])(
    "with the system error %s is reported as `Unavailable`",
    async (code) => {
      const result = await failing(code)
      expect(Result.isFailure(result) && result.failure).toMatchObject({ _tag: "Unavailable" })
    },
  )
  it.each([
    ["28P01", "the password was changed"],
    ["28000", "the host is no longer allowed"],
    ["3D000", "the database is being restored"],
    ["58030", "the disk fails"],
    ["25P04", "the transaction_timeout of the operator has passed"],
    ["55P03", "the lock_timeout of the operator has passed"],
  ])("with the SQLSTATE %s (%s) is reported as `Unavailable`", async (code) => {
    const result = await failing(code)
    expect(Result.isFailure(result) && result.failure).toMatchObject({ _tag: "Unavailable" })
  })
  it("is reported as `Unavailable` while the operator allows no connections; later statements succeed", async () => {
    // The pool is created without a service, because the statements of a service would use connections too.
    const connection = await createDatabase()
    if (!("database" in connection)) throw new Error("the test database must be reached by its socket")
    const name = connection.database
    const shut = ManagedRuntime.make(Sql.layer({ connection, poolSize: 2, statementTimeoutMs: 60_000 }))
    cleanUp(() => shut.dispose())
    const ask = (seconds: number) =>
      shut.runPromise(
        Effect.result(Sql.use((sql) => sql.rows((q) => q`select pg_sleep(${seconds})::text as slept`))),
      )
    const letIn = async (allow: boolean) => {
      await service.sql.unsafe(`alter database ${name} allow_connections ${allow}`)
      if (!allow) await endSessions(service.sql, name)
    }
    const sleeping = async () => {
      const [row] = await service.sql`select count(*)::int as n from pg_stat_activity
                                       where datname = ${name} and wait_event = 'PgSleep'`
      return row?.["n"]
    }
    const cut = [ask(30), ask(30), ask(30)]
    await expect.poll(sleeping).toBe(2)
    await letIn(false)
    for (const one of [...cut, ask(0), ask(0)])
      expect(await one).toMatchObject({ failure: { _tag: "Unavailable" } })
    await letIn(true)
    expect(await ask(0)).toMatchObject({ success: [{ slept: "" }] })
    expect(await Promise.all(cut.map(() => ask(0.1)))).toMatchObject(cut.map(() => ({ success: [{}] })))
  })
  it("with the error `UNDEFINED_VALUE`, a programming mistake, is thrown as an unexpected error", async () => {
    await expect(failing("UNDEFINED_VALUE")).rejects.toThrow()
  })
  it("that writes to a read-only database (a standby) gives 503, and GET /ready reports `writes: away` until it accepts writes", async () => {
    const demoted = await serve({ POOL_SIZE: "1" })
    const { token } = await demoted.user()
    const [{ name } = { name: "" }] = await demoted.sql`select current_database() as name`
    await demoted.sql.unsafe(`alter database ${name} set default_transaction_read_only = on`)
    await endSessions(demoted.sql, name)
    expect((await demoted.call("GET", "/ready")).status).toBe(200)
    const written = await demoted.call("POST", "/user_interests", { token, body: { emoji_id: "🦊🦊" } })
    expect(written.status).toBe(503)
    expect(written.headers.get("retry-after")).not.toBeNull()
    const ready = async () => (await demoted.call("GET", "/ready")).body.checks
    expect(await ready()).toMatchObject({ postgres: "ok", writes: "away" })
    await demoted.sql.unsafe(`alter database ${name} reset default_transaction_read_only`)
    await endSessions(demoted.sql, name)
    await expect.poll(ready).toMatchObject({ postgres: "ok", writes: "ok" })
  })
  it("that writes to a full disk gives 503, GET /ready reports `writes: away` until there is space, and reads still work", async () => {
    const full = await serve()
    const { token } = await full.user()
    await full.sql.unsafe(`
      create function no_space() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create trigger full_disk before insert on user_interest for each row execute function no_space();
      create function no_space_for_files() returns event_trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
      create event trigger full_disk on ddl_command_start execute function no_space_for_files()`)
    const ready = async () => (await full.call("GET", "/ready")).body.checks
    expect(await ready()).toMatchObject({ writes: "ok" })
    const written = await full.call("POST", "/user_interests", { token, body: { emoji_id: "🦊🦊" } })
    expect([written.status, written.body.error]).toEqual([
      503,
      "The database does not accept writes at the moment. Retry later.",
    ])
    expect(await ready()).toMatchObject({ postgres: "ok", writes: "away" })
    expect((await full.call("GET", "/user_interests", { token })).status).toBe(200)
    // No request writes from here on.
    await full.sql.unsafe("drop event trigger full_disk")
    await expect.poll(ready).toMatchObject({ postgres: "ok", writes: "ok" })
  })
  it("that writes to a full disk is reported only for a while if the role may not create temporary tables", async () => {
    const connection = await createDatabase()
    if (!("database" in connection)) throw new Error("the test database must be reached by its socket")
    const { database, port, socketDir } = connection
    const role = `no_temp_${database}`
    const admin = connect({ connection, poolSize: 1, statementTimeoutMs: 60_000 })
    await admin.unsafe(`create role ${role} login; revoke temporary on database ${database} from public`)
    const url = `postgres://${role}@${encodeURIComponent(socketDir)}:${port}/${database}`
    const log: Array<unknown> = []
    const limited = ManagedRuntime.make(
      Layer.provideMerge(
        Sql.layer({ connection: { url }, poolSize: 1, statementTimeoutMs: 60_000 }),
        Logger.layer([Logger.make(({ message }) => log.push([message].flat()[0]))]),
      ),
    )
    cleanUp(async () => {
      await limited.dispose()
      await admin.unsafe(`drop role ${role}`)
      await admin.end()
    })
    const sql = await limited.runPromise(Sql)
    const full = sql.once((q) => q`do $$ begin raise exception using errcode = '53100'; end $$`)
    expect(await limited.runPromise(Effect.result(full))).toMatchObject({
      failure: { error: "The database does not accept writes at the moment. Retry later." },
    })
    await expect.poll(() => log).toEqual(["postgres rejects writes", "postgres accepts writes again"])
    expect(sql.writesFail()).toBe(false)
  })
})
