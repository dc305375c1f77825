import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openPartialFile } from "../../src/backup/archive/partial-file.ts"
import { readArchive } from "../../src/backup/archive/read-archive.ts"
import { writeArchive } from "../../src/backup/archive/write-archive.ts"
import { backUp } from "../../src/backup/backup.ts"
import { restore, verifyBackup } from "../../src/backup/restore.ts"
import { connect } from "../../src/postgres/client.ts"
import { request } from "../fixtures/api-call.ts"
import { freePort } from "../fixtures/free-port.ts"
import { type Program, startProgram, temporaryFolder } from "../fixtures/program.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { testConfig } from "../fixtures/test-service.ts"
import { databaseOf, findDamage } from "../security/fuzz/target.ts"
import { startBuyers } from "./buyers.ts"

const root = temporaryFolder()
const keys = `one:${Buffer.alloc(32, 5).toString("base64url")}`
const otherKeys = `one:${Buffer.alloc(32, 6).toString("base64url")}`
const [dataDir, restoredDir, file] = [join(root, "data"), join(root, "restored"), join(root, "backup")]
const notes: Array<string> = []

const optionsOf = (folder: string, path = file, environment: Record<string, string> = {}) => ({
  config: testConfig({ DATA_DIR: folder, SECRET_KEYS: keys, ...environment }),
  file: path,
  replace: false,
  isMove: false,
  note: (line: string) => notes.push(line),
  signal: new AbortController().signal,
})

/** Runs the commands of a unit as systemd does: it replaces `$$`, `%%` and `${NAME}`, and the shell the rest. */
const runUnit = (name: string, environment: Record<string, string>) => {
  const text = readFileSync(join(import.meta.dirname, "../../deploy/systemd", name), "utf8")
  for (const [, line = ""] of text.matchAll(/^ExecStart(?:Post)?=(.+)$/gm)) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")
    const [program = "", ...args] = words.map((word) =>
      word
        .replaceAll("/usr/bin/node", process.execPath)
        .replaceAll("%%", "%")
        .replaceAll(/(?<!\$)\$\{(\w+)\}/g, (_, key: string) => environment[key] ?? "")
        .replaceAll("$$", "$"),
    )
    execFileSync(program, args, {
      cwd: join(import.meta.dirname, "../.."),
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "ignore", "pipe"],
    })
  }
}

const programs: Array<Program> = []
/** Mail waits in the outbox, because its server does not accept connections. */
const start = async (folder: string) => {
  const port = await freePort()
  const program = startProgram({
    PORT: String(port),
    DATA_DIR: folder,
    SECRET_KEYS: keys,
    DEMO: "false",
    LOG_LEVEL: "Fatal",
    RATE_LIMIT: "off",
    SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    MAIL_FROM: "directory@example.com",
  })
  programs.push(program)
  await program.printed("docs")
  return { program, url: `http://127.0.0.1:${port}` }
}
const open = (folder: string) => {
  const sql = connect({ connection: databaseOf(folder), poolSize: 1, statementTimeoutMs: 60_000 })
  cleanUp(() => sql.end({ timeout: 1 }))
  return sql
}
const people = ["ann@example.com", "ben@example.com"].map((email) => ({
  email,
  password: "correct horse battery",
}))
const logIn = async (url: string, body: object) =>
  (await request(`${url}/auth/token`, "POST", { body })).body.access_token as string

/** The state of the service that is backed up. It is killed after the first tests. */
let url = ""
let sql: ReturnType<typeof open>
let program: Program

beforeAll(async () => {
  ;({ program, url } = await start(dataDir))
  sql = open(dataDir)
  for (const body of people) await request(`${url}/users`, "POST", { body })
  await sql`update app_user set free_limit = 10000, email_verified_at = now()`
})
afterAll(async () => {
  for (const one of programs) {
    one.child.kill("SIGTERM")
    await one.ended
  }
})

describe("a backup of the embedded Postgres", () => {
  it("is refused if DATA_DIR has no database, and creates none", async () => {
    const nowhere = join(root, "nowhere")
    await expect(backUp(optionsOf(nowhere))).rejects.toThrow(/nowhere\/postgres contains no database/)
    expect(existsSync(nowhere)).toBe(false)
    expect(existsSync(`${file}.partial`)).toBe(false)
  })

  it("that is interrupted leaves no file, and Postgres ends it", async () => {
    const stop = new AbortController()
    const running = backUp({ ...optionsOf(dataDir), signal: stop.signal })
    await expect.poll(async () => (await sql`select 1 from pg_replication_slots`).length).toBe(1)
    stop.abort(new Error("Interrupted."))
    await expect(running).rejects.toThrow("Interrupted.")
    expect(readdirSync(root)).toEqual(["data"])
    await expect.poll(async () => (await sql`select 1 from pg_replication_slots`).length).toBe(0)
  })

  it("contains every write that was acknowledged before its end, after everything was killed", async () => {
    const tokens = await Promise.all(people.map((body) => logIn(url, body)))
    const [{ epoch } = { epoch: "" }] = await sql<{ epoch: string }[]>`select epoch from live_epoch`
    const load = startBuyers(url, tokens)
    await expect.poll(() => load.bought.length).toBeGreaterThan(5)
    const before = load.bought.length

    // What an earlier process has left behind is overwritten, and the file of another process is not.
    writeFileSync(`${file}.partial`, "left behind", { mode: 0o644 })
    const [made, second] = await Promise.allSettled([backUp(optionsOf(dataDir)), backUp(optionsOf(dataDir))])
    const [done] = [made, second].flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    const [refused] = [made, second].flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []))
    expect(refused).toMatch(/Another backup is writing|exists\. Choose another name/)
    await expect.poll(() => load.bought.length).toBeGreaterThan(before + 5)
    process.kill(
      Number.parseInt(readFileSync(join(dataDir, "postgres/cluster/postmaster.pid"), "utf8"), 10),
      "SIGKILL",
    )
    program.child.kill("SIGKILL")
    await program.ended
    await load.stop()

    expect(done).toMatchObject({ kind: "cluster", release: "0.3.0", needed_keys: ["one"] })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(existsSync(`${file}.partial`)).toBe(false)
    expect(await verifyBackup(file, optionsOf("").signal, () => {})).toEqual(done)
    // With these files of the running server, a restore beside it would not start.
    expect(execFileSync("tar", ["-tzf", file], { encoding: "utf8" })).not.toMatch(/postmaster|\.s\.PGSQL/)
    for (const secret of [keys.slice(4), "secret-key"])
      expect(readFileSync(file).includes(secret)).toBe(false)

    const restored = await restore(optionsOf(restoredDir))
    expect(restored.ledger_difference_in_cents).toBe(0)
    expect(restored.ended_sessions).toBeGreaterThanOrEqual(2)
    expect(restored.held_mail).toBeGreaterThan(5)
    expect(readdirSync(join(restoredDir, "postgres")).sort()).toEqual(["cluster", "lock"])

    const service = await start(restoredDir)
    const found = open(restoredDir)
    const until = Date.parse(restored.has_writes_until)
    const idsOf = (list: typeof load.bought) => list.filter(({ at }) => at < until).map(({ id }) => id)
    expect(idsOf(load.bought).length).toBeGreaterThanOrEqual(before)
    const owned = await found<{ id: string }[]>`select canonical as id from claim where kind = 'owned'`
    const wanted = await found<{ id: string }[]>`select canonical as id from user_interest`
    const lost = (list: typeof load.bought, rows: typeof owned) =>
      idsOf(list).filter((id) => !rows.some((row) => row.id === id))
    expect(lost(load.bought, owned)).toEqual([])
    expect(lost(load.interests, wanted)).toEqual([])
    expect(await findDamage(found)).toEqual([])

    const [row] = await found<{ epoch: string }[]>`select epoch from live_epoch`
    expect(row?.epoch).not.toBe(epoch)
    expect(await found`select 1 from outbox where sent_at is null and due_at < 'infinity'`).toEqual([])
    const account = async (token: string) =>
      (await request(`${service.url}/account`, "GET", { token })).status
    expect(await account(tokens[0]!)).toBe(401)
    expect(await account(await logIn(service.url, people[0]!))).toBe(200)

    await expect(restore(optionsOf(restoredDir))).rejects.toThrow(/The service is running with this data/)
  })

  it("is made by the systemd unit, which then deletes those that are older than KEEP_DAYS", async () => {
    const folder = join(root, "backups")
    mkdirSync(folder)
    const aged = (name: string, days: number) => {
      const at = Date.now() / 1000 - days * 86_400
      writeFileSync(join(folder, name), "")
      utimesSync(join(folder, name), at, at)
    }
    aged("old.backup", 15.5)
    aged("recent.backup", 13)
    aged("other file", 100)
    const environment = { DATA_DIR: restoredDir, SECRET_KEYS: keys, BACKUP_DIR: folder, KEEP_DAYS: "14" }
    runUnit("emoji-id-directory-backup.service", environment)
    const [made = "", ...rest] = readdirSync(folder).sort()
    expect(rest).toEqual(["other file", "recent.backup"])
    expect(made).toMatch(/^\d{4}-\d\d-\d\dT\d{6}Z\.backup$/)
    const verified = await verifyBackup(join(folder, made), optionsOf("").signal, () => {})
    expect(verified).toMatchObject({ kind: "cluster", needed_keys: ["one"] })
  })
})

/** The SHA-256 of what a compressed file contains. Undefined if it cannot be read. */
const contentOf = (file: Buffer): string | undefined => {
  try {
    return createHash("sha256").update(gunzipSync(file)).digest("hex")
  } catch {
    return undefined
  }
}

/**
 * Changes a byte in the middle of a file. Some bits of a compressed file can change without an effect, for example the
 * distance of a repetition in a run of zeros. So the first byte is changed that makes a difference.
 */
const damageByte = (path: string): void => {
  const file = readFileSync(path)
  const before = contentOf(file)
  let at = file.length >> 1
  const flip = () => {
    file[at]! ^= 1
  }
  flip()
  while (contentOf(file) === before) {
    flip()
    at++
    flip()
  }
  writeFileSync(path, file)
}

describe("a restore", () => {
  const target = join(root, "target")
  const refused = async (reason: RegExp, path = file, environment: Record<string, string> = {}) => {
    await expect(restore(optionsOf(target, path, environment))).rejects.toThrow(reason)
    const left = existsSync(join(target, "postgres")) ? readdirSync(join(target, "postgres")) : []
    expect(left.filter((name) => name !== "lock")).toEqual([])
  }
  const changed = (name: string, change: (path: string) => void) => {
    const path = join(root, name)
    copyFileSync(file, path)
    change(path)
    return path
  }

  it("is refused without the keys that encrypted the data, and generates none", async () => {
    await refused(/need the key "one"\. SECRET_KEYS cannot decrypt them/, file, { SECRET_KEYS: otherKeys })
    const without = testConfig({ DATA_DIR: target })
    const options = { ...optionsOf(target), config: { ...without, secretKeys: undefined } }
    await expect(restore(options)).rejects.toThrow(/No key is configured/)
    expect(existsSync(join(target, "secret-key"))).toBe(false)
  })

  it("is refused if a byte of the file is damaged, or its end is missing, and leaves nothing behind", async () => {
    const size = statSync(file).size
    const damaged = changed("damaged", damageByte)
    await refused(/damaged is damaged or not a backup/, damaged)
    const short = changed("short", (path) => truncateSync(path, size - 1000))
    await refused(/short is damaged or not a backup/, short)
    await expect(verifyBackup(short, optionsOf("").signal, () => {})).rejects.toThrow(/short is damaged/)
    const text = changed("text", (path) => writeFileSync(path, "not a backup"))
    await refused(/text is damaged or not a backup/, text)
    await refused(/^There is no file .*missing\. Give the path of a backup/, join(root, "missing"))
  })

  it("that is interrupted leaves nothing behind", async () => {
    const stop = new AbortController()
    const note = () => stop.abort(new Error("Interrupted."))
    await expect(restore({ ...optionsOf(target), note, signal: stop.signal })).rejects.toThrow("Interrupted.")
    await refused(/need the key/, file, { SECRET_KEYS: otherKeys })
  })

  it("is refused if the data directory contains a database, or DATABASE_URL is set", async () => {
    await expect(restore(optionsOf(dataDir))).rejects.toThrow(
      /cluster contains a database, which a restore does not overwrite/,
    )
    await refused(/without DATABASE_URL/, file, { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" })
  })

  it("is refused if the backup is of a newer release, or of a newer format", async () => {
    const { header } = await readArchive(file, async ({ header }) => ({ header }))
    const written = async (name: string, change: object) => {
      const target = await openPartialFile(join(root, name), { replace: false })
      const facts = async () => ({ has_writes_until: header.begun_at })
      await writeArchive(target.handle, { ...header, ...change }, facts)
      await target.finish()
      return join(root, name)
    }
    const release = await written("release", { schema: { ...header.schema, release: [99, 1, 0] } })
    await refused(
      /of a newer release \(99\.1\.0\) than this one .* Restore it with release 99\.1\.0/,
      release,
    )
    const migrations = [...header.schema.migrations, "9999_later.sql"]
    const migrated = await written("migrated", { schema: { ...header.schema, migrations } })
    await refused(/newer release .*9999_later\.sql/, migrated)
    await refused(/the format is 2, but this version reads format 1/, await written("format", { format: 2 }))
  })

  it("is refused for another major version of Postgres", async () => {
    const programs = temporaryFolder()
    writeFileSync(join(programs, "postgres"), '#!/bin/sh\necho "postgres (PostgreSQL) 99.1"\n')
    chmodSync(join(programs, "postgres"), 0o755)
    await refused(
      /files of PostgreSQL 18, but .* is PostgreSQL 99, which cannot read them\. Set PG_BIN/,
      file,
      {
        PG_BIN: programs,
      },
    )
  })
})
