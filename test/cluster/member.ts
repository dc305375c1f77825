/** A process with a table of values, a cache and the bus. The parent process sends it commands. */
import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, ManagedRuntime } from "effect"
import { Bus } from "../../src/cluster/bus.ts"
import { postgresTransport } from "../../src/cluster/transport-postgres.ts"
import { connectTo } from "./postgres-server.ts"

const [directory, name, leaseMs] = process.argv.slice(2) as [string, string, string]
const sql = connectTo(directory, `${name} pool`)
const runtime = ManagedRuntime.make(
  Bus.layer({
    transport: postgresTransport({
      connect: () => connectTo(directory, `${name} bus`),
      channel: "bus_test",
      silenceMs: Number(leaseMs),
    }),
    heartbeatMs: Number(leaseMs) / 6,
    leaseMs: Number(leaseMs),
    statementMs: 2_000,
  }),
)
const bus = await runtime.runPromise(Bus.use((bus) => Effect.succeed(bus)))

/** Blocks this process: no timers run and no messages are handled. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const cache = new Map<string, number>()
let generation = 0
let dropMs = 0
/** When each key was last removed from the cache. */
const droppedAt = new Map<string, number>()
bus.onInvalidate("value", (keys) => {
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

const commands = {
  async read(key: string) {
    const cached = cache.get(key)
    if (cached !== undefined && bus.mayServe()) return { value: cached, isCached: true }
    const loadedIn = generation
    const [row] = await persist(() => sql<[{ value: number }?]>`select value from value where key = ${key}`)
    if (loadedIn === generation) cache.set(key, row?.value ?? 0)
    return { value: row?.value ?? 0, isCached: false }
  },
  /** Reads as soon as the file appears, before the process can receive messages. */
  async readOnceExists(path: string, key: string) {
    while (!existsSync(path)) block(5)
    return commands.read(key)
  },
  async commit(key: string, value: number) {
    await persist(
      () =>
        sql`insert into value values (${key}, ${value}) on conflict (key) do update set value = excluded.value`,
    )
  },
  async write(key: string, value: number) {
    await commands.commit(key, value)
    await runtime.runPromise(bus.invalidate("value", [key]))
    return Date.now()
  },
  async dropSlowly(ms: number) {
    dropMs = ms
  },
  async droppedAt(key: string) {
    return droppedAt.get(key)
  },
  async mayServe() {
    return bus.mayServe()
  },
  async stats() {
    return bus.stats()
  },
  async stop() {
    await runtime.dispose()
    await sql.end({ timeout: 1 })
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
