import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { connect } from "../../src/postgres/client.ts"
import {
  currentSchema,
  functionFiles,
  migrationFiles,
  type SqlFile,
} from "../../src/postgres/schema/sql-files.ts"
import { createDatabase } from "../fixtures/database.ts"

const root = join(import.meta.dirname, "../..")
const withoutComments = (text: string) => text.replaceAll(/--.*$/gm, "")
const found = (files: ReadonlyArray<SqlFile>, pattern: RegExp): ReadonlyArray<string> =>
  files.flatMap(({ text }) => [...withoutComments(text).matchAll(pattern)].map(([, name = ""]) => name))
const twice = (names: ReadonlyArray<string>) => names.filter((name, i) => names.indexOf(name) !== i)

const migrations = migrationFiles(currentSchema)
const functions = functionFiles(currentSchema)
const isFunction = /\bcreate (?:or replace )?function (\w+)/g

describe("the migrations", () => {
  it("are numbered without gaps", () => {
    expect(migrations.map(({ name }) => name.slice(0, 5))).toEqual(
      migrations.map((_, i) => `${String(i + 1).padStart(4, "0")}_`),
    )
  })

  it("create each table once", () => {
    const tables = found(migrations, /\bcreate (?:unlogged )?table (\w+)/g)
    expect(twice(tables)).toEqual([])
    expect(found(functions, /\bcreate (?:unlogged )?table (\w+)/g)).toEqual([])
  })

  it("define no function and no trigger, except those without which their rows would be wrong", () => {
    expect(found(migrations, isFunction)).toEqual([
      "live_epoch",
      "sum_held_money",
      "mark_key_with_ids",
      "find_ids_of_key",
    ])
    expect(found(migrations, /\bcreate (?:or replace )?trigger (\w+)/g)).toEqual([
      "ledger_line_held",
      "emoji_id_registered",
      "emoji_id_key_changed",
      "pubkey_stored",
    ])
  })
})

describe("the SQL functions", () => {
  const signature =
    /\bcreate (?:or replace )?function (\w+\((?:[^()]|\([^()]*\))*\))\s+(?:returns|language)\b/g

  it("are defined once, and always with `create or replace`", () => {
    const signatures = found([...migrations, ...functions], signature)
    expect(signatures).toHaveLength(found([...migrations, ...functions], isFunction).length)
    expect(twice(signatures)).toEqual([])
    expect(found(functions, /\bcreate (function|trigger) /g)).toEqual([])
  })

  it("have different names, with three known exceptions", () => {
    // A function whose signature changes must get a new name. If two functions had the same name, it would be unclear
    // which of them a process of another release calls. The expected names are exceptions.
    const overloaded = twice(found([...migrations, ...functions], isFunction))
    expect(new Set(overloaded)).toEqual(
      new Set(["confirm_two_factor", "ledger_audit", "put_sandbox_intents"]),
    )
  })

  it("have bodies that the database accepts", async () => {
    const sql = connect({ connection: await createDatabase(), poolSize: 1, statementTimeoutMs: 60_000 })
    // `create function` runs these validators unless check_function_bodies is off.
    const checked = await sql`
      select p.proname, case l.lanname when 'sql' then fmgr_sql_validator(p.oid) else plpgsql_validator(p.oid) end
        from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'public'::regnamespace`
    expect(checked).toHaveLength(found([...migrations, ...functions], isFunction).length)
    await sql.end()
  })

  const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(join(root, "src", file), "utf8"))
    .filter((text) => text.includes("q`"))
    .join("\n")

  it("include every function that the service calls", async () => {
    const sql = connect({ connection: await createDatabase(), poolSize: 1, statementTimeoutMs: 8000 })
    const known = new Set((await sql`select distinct proname from pg_proc`).map(({ proname }) => proname))
    // This pattern finds calls of SQL functions: in files with statements, a name with underscores before a parenthesis
    // is always SQL.
    const called = [...source.matchAll(/\b(?:select|from|join|,|=|\() ?([a-z]+(?:_[a-z0-9]+)+)\(/g)]
    expect(called.length).toBeGreaterThan(60)
    expect(called.map(([, name]) => name).filter((name) => !known.has(name))).toEqual([])
    await sql.end()
  })

  it("are all called by the service or by other SQL, except those for operators and for the release before", () => {
    // Operators call the first function to check the ledger. Processes of the release before call the others.
    const byHand = ["ledger_audit", "begin_once", "redeem_code", "rotate_grant"]
    const everything = [
      source,
      ...[...migrations, ...functions].map(({ text }) => withoutComments(text)),
    ].join("\n")
    const calls = (name: string) => everything.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0
    const names = [...new Set(found([...migrations, ...functions], isFunction))]
    const defined = found([...migrations, ...functions], isFunction)
    const unused = names.filter((name) => calls(name) <= defined.filter((other) => other === name).length)
    expect(unused.filter((name) => !byHand.includes(name))).toEqual([])
  })
})
