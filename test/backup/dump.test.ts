import { copyFileSync, mkdirSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, inject, it } from "vitest"
import { backUp } from "../../src/backup/backup.ts"
import { withClient } from "../../src/backup/client.ts"
import { restore } from "../../src/backup/restore.ts"
import { connect } from "../../src/postgres/client.ts"
import { prepareDatabase } from "../../src/postgres/schema/prepare-database.ts"
import { temporaryFolder } from "../fixtures/program.ts"
import { havePostgres, startSystemPostgres, systemBin } from "../fixtures/servers/postgres-pair.ts"
import { serve, testConfig } from "../fixtures/service.ts"
import { packagesOf } from "../fixtures/suite/system-program.ts"
import { findDamage } from "../security/fuzz/target.ts"
import { startBuyers } from "./buyers.ts"

const root = temporaryFolder()
const file = join(root, "backup")

const optionsOf = (url: string, environment: Record<string, string> = {}) => ({
  config: testConfig({ DATABASE_URL: url, ...environment }),
  file,
  replace: false,
  isMove: false,
  note: () => {},
  signal: new AbortController().signal,
})

describe.skipIf(!havePostgres)(
  `with a Postgres of the system (needs ${packagesOf("postgres").join()})`,
  () => {
    it("a backup by pg_dump has every write acknowledged before its start, and is restored completely or not at all", async () => {
      const server = await startSystemPostgres()
      const urlOf = (name: string) => `postgres://postgres:secret-of-url@127.0.0.1:${server.port}/${name}`
      for (const name of ["source", "target"]) await server.psql(`create database ${name}`)
      const database = { url: urlOf("source") }
      await prepareDatabase(database, 8000, { serves: true })
      const service = await serve({ DATABASE_URL: database.url }, { database, peersPossible: true })
      const users = await Promise.all([1, 2].map(() => service.user({ freeLimit: 10_000 })))
      await service.sql`insert into outbox (recipient, kind, payload) values ('a@example.com', 'order_receipt', '{}')`
      const load = startBuyers(
        service.url,
        users.map(({ token }) => token),
      )
      await expect.poll(() => load.bought.length).toBeGreaterThan(5)
      const acknowledged = [...load.bought]
      const wanted = [...load.interests]
      const environment = { PG_BIN: systemBin }
      await expect(backUp(optionsOf(database.url, { PG_BIN: root }))).rejects.toThrow(
        /pg_dump is not in PG_BIN .*: install it with "apt-get install postgresql-client-\d+"/,
      )
      // A time limit of the role does not apply to the statements of a backup.
      await server.psql("alter role postgres set statement_timeout = 9000")
      const limit = await withClient(database, (sql) => sql`show statement_timeout`)
      expect(limit).toEqual([{ statement_timeout: "2147483647ms" }])
      const made = await backUp(optionsOf(database.url, environment))
      await load.stop()
      expect(made).toMatchObject({ kind: "dump", release: "0.3.0" })

      await expect(restore(optionsOf(database.url, environment))).rejects.toThrow(
        /is not empty: it contains api_key, .* Create an empty database/,
      )
      await expect(
        restore({ ...optionsOf(database.url), config: testConfig({ DATA_DIR: join(root, "data") }) }),
      ).rejects.toThrow(/pg_dump\)\. Set DATABASE_URL to an empty database/)

      // The damage is noticed when the whole dump has been sent to the database, which stays empty.
      const url = urlOf("target")
      const short = join(root, "short")
      copyFileSync(file, short)
      truncateSync(short, statSync(short).size - 500)
      await expect(restore({ ...optionsOf(url, environment), file: short })).rejects.toThrow(
        /short is damaged/,
      )
      const sql = connect({ connection: { url }, poolSize: 1, statementTimeoutMs: 60_000 })
      expect(await sql`select relname from pg_class where relnamespace = 'public'::regnamespace`).toEqual([])
      await sql.end()

      const restored = await restore(optionsOf(url, environment))
      expect(restored).toMatchObject({ held_mail: 1, ledger_difference_in_cents: 0 })
      await prepareDatabase({ url }, 8000, { serves: true })
      const other = await serve({ DATABASE_URL: url }, { database: { url }, peersPossible: true })
      const owned = await other.sql<{ id: string }[]>`select canonical as id from claim where kind = 'owned'`
      const found = await other.sql<{ id: string }[]>`select canonical as id from user_interest`
      const lost = (list: typeof acknowledged, rows: typeof owned) =>
        list.filter(({ id }) => !rows.some((row) => row.id === id))
      expect(lost(acknowledged, owned)).toEqual([])
      expect(lost(wanted, found)).toEqual([])
      expect(await findDamage(other.sql)).toEqual([])
      expect(await other.sql`select 1 from outbox where sent_at is null and due_at < 'infinity'`).toEqual([])
      // An access token of the time before the backup has ended.
      expect((await other.call("GET", "/account", { token: users[0]!.token })).status).toBe(401)
    })

    it("a pg_dump that is older than the server is refused, with the name of the package", async () => {
      const { port, socketDir } = inject("postgres")
      const query = new URLSearchParams({ host: socketDir, port: String(port) })
      const url = `postgres://postgres@localhost/template_directory?${query}`
      const isOlder = !systemBin.includes("/18/")
      const folder = join(root, "older")
      mkdirSync(folder, { recursive: true })
      const running = backUp({ ...optionsOf(url, { PG_BIN: systemBin }), file: join(folder, "backup") })
      if (isOlder)
        await expect(running).rejects.toThrow(/but the server is version 18: .*postgresql-client-18/)
      else await running
    })
  },
)
