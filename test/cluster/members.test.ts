import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Sql } from "postgres"
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest"
import { bundleProgram } from "../../bench/process/bundle.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { createCluster } from "./link.ts"
import type { Commands } from "./member.ts"
import { startPostgres } from "./postgres-server.ts"

const LEASE_MS = 1_500
/** Longer than a lease, so that a write can wait for a process that does not answer. */
const MARK_MS = 3_000

type Member = Awaited<ReturnType<typeof startMember>>
let server: Awaited<ReturnType<typeof startPostgres>>
let admin: Sql
let a: Member
let b: Member
/** Set to true after each test, even if the test failed, so that its background work stops. */
let isOver = false
const children = new Set<ChildProcess>()

const startMember = async (name: string) => {
  const script = bundleProgram(new URL("./member.ts", import.meta.url))
  const child = fork(script, [server.directory, name, `${LEASE_MS}`, `${MARK_MS}`], { execArgv: [] })
  children.add(child)
  const asked = new Map<number, (result: never) => void>()
  let ids = 0
  child.on("message", ({ id, result }: { id: number; result: never }) => asked.get(id)?.(result))
  const ask = <Name extends keyof Commands>(command: Name, ...args: Parameters<Commands[Name]>) =>
    new Promise<Awaited<ReturnType<Commands[Name]>>>((resolve) => {
      ids += 1
      asked.set(ids, resolve)
      child.send({ id: ids, command, args })
    })
  await new Promise<void>((resolve) => asked.set(0, () => resolve()))
  return {
    ask,
    read: async (key: string) => (await ask("read", key)).value,
    write: (key: string, value: number) => ask("write", key, value),
    /** Waits until the process answers from its cache. */
    warm: (key: string) => vi.waitUntil(async () => (await ask("read", key)).isCached, patiently),
    signal: async (signal: "SIGSTOP" | "SIGCONT" | "SIGKILL") => {
      child.kill(signal)
      if (signal === "SIGKILL") await once(child, "exit")
    },
    hasEnded: once(child, "exit"),
    /** Terminates the database sessions in which the message bus of the process listens, or those in which it notifies. */
    cut: (end: "listen" | "notify") => admin`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = ${`${name} bus`} and (query ilike 'listen%') = ${end === "listen"}`,
  }
}

afterEach(() => {
  isOver = true
})
beforeAll(async () => {
  server = await startPostgres()
  admin = server.connect("admin")
  await createCluster(admin)
  await admin`create table value (key text primary key, value int not null)`
  ;[a, b] = await Promise.all([startMember("a"), startMember("b")])
  // Until a process has joined, no other process waits for it.
  await Promise.all([a.warm("joined"), b.warm("joined")])
})
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await admin.end({ timeout: 1 })
  await server.stop()
})

it("a write is acknowledged only after the other process has dropped its cached value", async () => {
  for (let value = 1; ; value += 1) {
    await Promise.all([a.warm("drop"), b.warm("drop")])
    const { expired } = await a.ask("stats")
    await b.ask("dropSlowly", 200)
    const acknowledgedAt = await a.write("drop", value)
    await b.ask("dropSlowly", 0)
    const droppedAt = await b.ask("droppedAt", "drop")
    expect(await b.read("drop")).toBe(value)
    // On a busy machine the lease of process b may have expired. Then b does not use its cache.
    if ((await a.ask("stats")).expired > expired) continue
    expect(droppedAt).toBeLessThanOrEqual(acknowledgedAt)
    break
  }
})

it("a paused process does not block a write, and does not serve the old value when it continues", async () => {
  await Promise.all([a.warm("stop"), b.warm("stop")])
  const signal = join(server.directory, "go-on")
  const answer = b.ask("readOnceExists", signal, "stop")
  await b.signal("SIGSTOP")
  const { expired } = await a.ask("stats")
  await a.write("stop", 1)
  expect((await a.ask("stats")).expired).toBe(expired + 1)
  // The lease of process b has expired, so nobody waits for b any more.
  await a.write("stop", 2)
  expect((await a.ask("stats")).expired).toBe(expired + 1)
  writeFileSync(signal, "")
  await b.signal("SIGCONT")
  expect(await answer).toEqual({ value: 2, isCached: false })
})

it("a process that stops before its statement cannot commit after others have cached the key again", async () => {
  await Promise.all([a.warm("late"), b.warm("late")])
  const signal = join(server.directory, "late")
  const { fencesRefused } = await b.ask("stats")
  const write = b.ask("writeOnceExists", signal, "late")
  await vi.waitUntil(() => existsSync(`${signal} waits`), patiently)
  // The mark of process b ends in process a, although b has not ended its write.
  await a.warm("late")
  writeFileSync(signal, "")
  await write
  expect(await a.read("late")).toBe(1)
  expect((await b.ask("stats")).fencesRefused).toBeGreaterThan(fencesRefused)
})

it("a process that is disconnected during a write reads the new value, and uses its cache again later", async () => {
  await Promise.all([a.warm("cut"), b.warm("cut"), b.warm("cut unasked")])
  const { gaps } = await b.ask("stats")
  await b.cut("listen")
  await Promise.all([a.write("cut", 1), a.write("cut unasked", 1)])
  expect(await b.read("cut")).toBe(1)
  await b.warm("cut")
  expect(await b.read("cut unasked")).toBe(1)
  expect((await b.ask("stats")).gaps).toBeGreaterThan(gaps)
})

it("no read returns an older value than a read or a write before it, while database connections are terminated repeatedly", async () => {
  isOver = false
  let cuts = 0
  const cutting = (async () => {
    for (let turn = 0; !isOver; turn += 1) {
      await (turn % 2 === 0 ? a : b).cut(turn % 5 === 0 ? "listen" : "notify")
      cuts += 1
      await sleep(40)
    }
  })()
  let acknowledged = 0
  let seen = 0
  let answers = 0
  const reading = [a, b].map(async (member) => {
    while (!isOver) {
      const atLeast = seen
      const value = await member.read("hail")
      expect(value).toBeGreaterThanOrEqual(atLeast)
      seen = Math.max(seen, value)
      answers += 1
      await sleep(2)
    }
  })
  for (let value = 1; cuts < 40 || acknowledged < 2 || answers < 101; value += 1) {
    await (value % 2 === 0 ? a : b).write("hail", value)
    acknowledged = value
    seen = Math.max(seen, value)
  }
  isOver = true
  await Promise.all([cutting, ...reading])
  expect(acknowledged).toBeGreaterThan(1)
  expect(answers).toBeGreaterThan(100)
})

it("a process that starts during writes never returns a value older than the last acknowledged write", async () => {
  let acknowledged = 0
  isOver = false
  const writing = (async () => {
    for (let value = 1; !isOver; value += 1) {
      await a.write("join", value)
      acknowledged = value
      await sleep(5)
    }
  })()
  const joiner = await startMember("c")
  let cached = 0
  while (cached < 50) {
    const atLeast = acknowledged
    const { value, isCached } = await joiner.ask("read", "join")
    expect(value).toBeGreaterThanOrEqual(atLeast)
    if (isCached) cached += 1
  }
  isOver = true
  await writing
  await joiner.ask("stop")
  await joiner.hasEnded
})

it("a process reads the write of another process after a clean and after an unclean database restart", async () => {
  for (const [value, signal] of [
    [1, "SIGINT"],
    [2, "SIGQUIT"],
  ] as const) {
    await Promise.all([a.warm("restart"), b.warm("restart")])
    await server.restart(signal)
    await a.write("restart", value)
    expect(await b.read("restart")).toBe(value)
  }
  await Promise.all([a.warm("restart"), b.warm("restart")])
})

it("the caches of a process stay as they are when another process leaves, and when another one is killed", async () => {
  const keys = ["first", "second"]
  const peersOfB = async () => (await b.ask("stats")).peers
  for (const end of ["leave", "kill"]) {
    // Process b notices later than others that a process has joined or left.
    await vi.waitUntil(async () => (await peersOfB()) === 1, patiently)
    const other = await startMember(`other ${end}`)
    await other.warm("first")
    await vi.waitUntil(async () => (await peersOfB()) === 2, patiently)
    await Promise.all(keys.map((key) => b.warm(key)))
    const before = await b.ask("stats")
    if (end === "kill") await other.signal("SIGKILL")
    else {
      await other.ask("stop")
      await other.hasEnded
    }
    await vi.waitUntil(async () => (await peersOfB()) < 2, patiently)
    // On a busy machine, process b may lose its own lease. Then it drops its cache for that reason.
    if ((await b.ask("stats")).leasesLost > before.leasesLost) continue
    for (const key of keys) expect(await b.ask("isCached", key)).toBe(true)
  }
})

it("a write of a killed process that is committed after the kill does not remain unnoticed", async () => {
  await Promise.all([b.warm("kill"), a.warm("kill")])
  const lock = admin.begin(async (tx) => {
    await tx`lock table value in exclusive mode`
    void a.ask("write", "kill", 1)
    await vi.waitUntil(async () => {
      const [waiting] = await admin`select 1 from pg_stat_activity where wait_event_type = 'Lock'`
      return waiting !== undefined
    }, patiently)
    await a.signal("SIGKILL")
    expect(await b.read("kill")).toBe(0)
  })
  await lock
  await vi.waitUntil(async () => (await b.read("kill")) === 1, patiently)
  await b.warm("kill")
  expect(await b.read("kill")).toBe(1)
})
