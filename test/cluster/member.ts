/** A process with a table of values, a cache and the bus. The parent process sends it commands. */
import { existsSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Layer, ManagedRuntime } from "effect"
import { Bus } from "../../src/cluster/bus.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { linkTo } from "./link.ts"

const [directory, name, leaseMs, markMs] = process.argv.slice(2) as [string, string, string, string]
const runtime = ManagedRuntime.make(
  Layer.mergeAll(
    Bus.layer({
      link: linkTo(directory, `${name} bus`, Number(leaseMs)),
      leaseMs: Number(leaseMs),
      renewMs: Number(leaseMs) / 6,
      markMs: Number(markMs),
      statementMs: 2_000,
    }),
    Sql.layer({
      connection: { socketDir: directory, port: 5432, database: "postgres" },
      poolSize: 4,
      statementTimeoutMs: 2_000,
    }),
  ),
)
const bus = await runtime.runPromise(Bus.use((bus) => Effect.succeed(bus)))
const sql = await runtime.runPromise(Sql.use((sql) => Effect.succeed(sql)))

/** Blocks this process: no timers run and no messages are handled. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const topic = "value"
const cache = new Map<string, number>()
let generation = 0
let dropMs = 0
/** When each key was last removed from the cache. */
const droppedAt = new Map<string, number>()
bus.onInvalidate(topic, (keys) => {
  if (dropMs > 0) block(dropMs)
  generation += 1
  for (const key of keys === "all" ? [...cache.keys()] : keys)
    if (cache.delete(key)) droppedAt.set(key, Date.now())
})

const persist = async <A>(run: () => Promise<A>): Promise<A> => {
  for (;;) {
    try {
      return await run()
    } catch {
      await sleep(20)
    }
  }
}

const put = (key: string, value: number) =>
  sql.rows(
    (q) => q`insert into value values (${key}, ${value})
             on conflict (key) do update set value = excluded.value returning 1`,
  )

const commands = {
  async read(key: string) {
    const cached = cache.get(key)
    if (cached !== undefined && bus.mayServe()) return { value: cached, isCached: true }
    const loadedIn = generation
    const [row] = await persist(() =>
      runtime.runPromise(sql.rows<{ value: number }>((q) => q`select value from value where key = ${key}`)),
    )
    if (loadedIn === generation && !bus.isMarked(topic, key)) cache.set(key, row?.value ?? 0)
    return { value: row?.value ?? 0, isCached: false }
  },
  /** Reads as soon as the file appears, before the process can receive messages. */
  async readOnceExists(path: string, key: string) {
    while (!existsSync(path)) block(5)
    return commands.read(key)
  },
  async write(key: string, value: number) {
    await persist(() => runtime.runPromise(put(key, value).pipe(bus.invalidating({ [topic]: [key] }))))
    return Date.now()
  },
  /** Writes the value 1. After all have acknowledged, creates the file `${path} waits`, and blocks until `path` exists. */
  async writeOnceExists(path: string, key: string) {
    const statement = Effect.suspend(() => {
      writeFileSync(`${path} waits`, "")
      while (!existsSync(path)) block(5)
      return put(key, 1)
    })
    await persist(() => runtime.runPromise(statement.pipe(bus.invalidating({ [topic]: [key] }))))
  },
  async dropSlowly(ms: number) {
    dropMs = ms
  },
  async droppedAt(key: string) {
    return droppedAt.get(key)
  },
  async isCached(key: string) {
    return cache.has(key) && bus.mayServe()
  },
  async stats() {
    return bus.stats()
  },
  async stop() {
    await runtime.dispose()
  },
}
export type Commands = typeof commands

process.on(
  "message",
  async ({ id, command, args }: { id: number; command: keyof Commands; args: [never, never] }) => {
    const result = await commands[command](...args)
    process.send?.({ id, result })
    if (command === "stop") process.disconnect?.()
  },
)
process.send?.({ id: 0 })
