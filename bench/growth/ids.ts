import type { Sql } from "postgres"
import { urlOfTarget } from "../load/request.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { storePeople, tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"
import { percentileOf, type TableSize, tableSizes } from "./measure.ts"
import { storeRegistered } from "./store-registered.ts"

const fewIds = 1_000
const owners = 1_000
const samples = 1_000
const rounds = 3
const carts = 10
const itemsPerCart = 10
/** A statement stores 200,000 ids; on a busy disk this takes longer than the statements of other scenarios. */
const statementTimeoutMs = 600_000
const freeLength = 6
const freeSpacing = 7_919

interface Figures {
  readonly ids: number
  readonly sizes: ReadonlyArray<TableSize>
  /** By call: the latency of each request, in milliseconds. */
  readonly latencies: Readonly<Record<string, ReadonlyArray<number>>>
}

type Send = (n: number) => Promise<void>

const sender = (server: RunningServer, token: string) => {
  const send = async (method: string, path: string, body?: unknown): Promise<void> => {
    const answer = await fetch(urlOfTarget(server.target, path), {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  }
  return send
}

const timed = async (count: number, send: Send): Promise<ReadonlyArray<number>> => {
  const latencies: number[] = []
  for (let n = 0; n < count; n++) {
    const beganAt = performance.now()
    await send(n)
    latencies.push(performance.now() - beganAt)
  }
  return latencies
}

/** A sample of stored ids that is spread over all of them. */
const sampleOf = async (sql: Sql, ids: number): Promise<ReadonlyArray<string>> => {
  const wanted = Array.from({ length: samples }, (_, n) => 1 + Math.floor((n * ids) / samples))
  const rows = await sql<{ canonical: string }[]>`
    select canonical from emoji_id where token_id = any(${wanted}::bigint[])`
  return rows.map(({ canonical }) => canonical).sort(() => Math.random() - 0.5)
}

/** Stores the ids in a service and measures it. */
const measure = async (ids: number, onStep: (step: string) => void): Promise<Figures> => {
  const server = await service(`${ids} ids`).start()
  try {
    let sizes: ReadonlyArray<TableSize> = []
    let sample: ReadonlyArray<string> = []
    await openStored(
      server,
      async (sql) => {
        await storePeople(sql, owners)
        await storeRegistered(sql, ids, owners, onStep)
        onStep("vacuum")
        for (const table of ["claim", "emoji_id", "record", "channel"])
          await sql.unsafe(`vacuum analyze ${table}`)
        sizes = await tableSizes(sql, ["claim", "emoji_id", "record", "channel"])
        sample = await sampleOf(sql, ids)
      },
      statementTimeoutMs,
    )
    const [token = ""] = await tokensOf(server, 1)
    const latencies: Record<string, number[]> = {}
    const add = (name: string, found: ReadonlyArray<number>) => {
      latencies[name] = [...(latencies[name] ?? []), ...found]
    }
    for (let round = 0; round < rounds; round++) {
      onStep(`${ids} ids: round ${round + 1} of ${rounds}`)
      // After a restart nothing is cached by the service or its Postgres.
      await server.restart?.()
      const send = sender(server, token)
      await timed(50, () => send("GET", "/account"))
      const lookUp = (n: number) => send("GET", `/emoji_id/${encodeURIComponent(sample[n % sample.length]!)}`)
      add("lookup, cold", await timed(sample.length, lookUp))
      add("lookup, warm", await timed(sample.length, lookUp))
      const free = (n: number) => canonicalAt((round * samples + n) * freeSpacing, freeLength)
      const search = (id: string) => send("GET", `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`)
      add("search of a free id", await timed(200, (n) => search(free(n))))
      add("search of a taken id", await timed(200, (n) => search(sample[n]!)))
      for (let cart = 0; cart < carts; cart++) {
        const item = (n: number) => ({ items: [{ emoji_id: free(cart * itemsPerCart + n) }] })
        add("cart: add", await timed(itemsPerCart, (n) => send("POST", "/cart", item(n))))
        add("cart: delete", await timed(1, () => send("DELETE", "/cart")))
      }
      const edit = (n: number) => ({ insert: [{ tag: "0x0002", data: `Note ${round} ${n}` }] })
      const own = await sampleOwned(server)
      add(
        "edit of records",
        await timed(100, (n) => send("PATCH", `/emoji_id/${encodeURIComponent(own)}`, edit(n))),
      )
    }
    return { ids, sizes, latencies }
  } finally {
    await server.stop()
  }
}

const sampleOwned = async (server: RunningServer): Promise<string> => {
  let id = ""
  await openStored(server, async (sql) => {
    const [row] = await sql<{ canonical: string }[]>`
      select e.canonical from emoji_id e join app_user u on u.id = e.owner_id
       where u.email = 'bench-0@example.com' limit 1`
    id = row!.canonical
  })
  return id
}

const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1)

/**
 * Measures a service with 1,000 ids and one with `ids` ids, in the same run. Returns a Markdown table of the latencies
 * of sequential requests, and one of the disk space.
 */
export async function runIds(ids: number, onStep: (step: string) => void): Promise<string> {
  const few = await measure(fewIds, onStep)
  const many = await measure(ids, onStep)
  const calls = Object.keys(few.latencies).map((name) => {
    const [a = [], b = []] = [few.latencies[name], many.latencies[name]]
    const cells = [a, b].flatMap((found) => [percentileOf(found, 0.5), percentileOf(found, 0.99)])
    const ratio = percentileOf(b, 0.5) / percentileOf(a, 0.5)
    return `| ${name} | ${cells.map(ms).join(" | ")} | ${ratio.toFixed(2)} |`
  })
  const [n, m] = [few, many].map(({ ids }) => ids.toLocaleString("en"))
  const total = many.sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const tables = many.sizes.map(
    ({ bytes, heapBytes, table }) =>
      `| \`${table}\` | ${Math.round(heapBytes / many.ids)} | ${Math.round((bytes - heapBytes) / many.ids)} | ${Math.round(bytes / many.ids)} |`,
  )
  return [
    `| call | p50 with ${n} ids, ms | p99 | p50 with ${m} ids, ms | p99 | ratio of p50 |`,
    "|---|---|---|---|---|---|",
    ...calls,
    "",
    "| table | heap bytes per id | index bytes per id | together |",
    "|---|---|---|---|",
    ...tables,
    `| all | | | ${Math.round(total / many.ids)} |`,
  ].join("\n")
}
