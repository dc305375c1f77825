import type { Sql } from "postgres"
import { urlOfTarget } from "../load/request.ts"
import type { RunningServer } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { storePeople, tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"
import { measureImport } from "./import.ts"
import { percentileOf, type TableSize, tableSizes } from "./measure.ts"
import { storeRegistered } from "./store-registered.ts"

const fewIds = 1_000
const owners = 1_000
const samples = 1_000
const searches = 200
const rounds = 3
const tables = ["claim", "emoji_id", "record", "channel"]
const carts = 10
const itemsPerCart = 10
/** A statement stores 200,000 ids; on a busy disk this takes longer than the statements of other scenarios. */
const statementTimeoutMs = 600_000
const freeLength = 6
const freeSpacing = 7_919

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

interface Subject {
  readonly ids: number
  readonly server: RunningServer
  readonly sizes: ReadonlyArray<TableSize>
  /** Ids that are spread over all stored ids. */
  readonly sample: ReadonlyArray<string>
  /** By call: the latency of each request, in milliseconds. */
  readonly latencies: Record<string, number[]>
}

/** Starts a service and stores the ids. */
const prepare = async (ids: number, onStep: (step: string) => void): Promise<Subject> => {
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
        for (const table of tables) await sql.unsafe(`vacuum analyze ${table}`)
        sizes = await tableSizes(sql, tables)
        sample = await sampleOf(sql, ids)
      },
      statementTimeoutMs,
    )
    return { ids, server, sizes, sample, latencies: {} }
  } catch (error) {
    await server.stop()
    throw error
  }
}

const measureRound = async ({ latencies, sample, server }: Subject, round: number): Promise<void> => {
  const [token = ""] = await tokensOf(server, 1)
  const own = await findOwned(server)
  // After a restart nothing is cached by the service or its Postgres.
  await server.restart?.()
  const send = sender(server, token)
  const add = async (name: string, count: number, call: Send) => {
    latencies[name] = [...(latencies[name] ?? []), ...(await timed(count, call))]
  }
  const free = (n: number) => canonicalAt((round * samples + n) * freeSpacing, freeLength)
  const lookUp = (n: number) => send("GET", `/emoji_id/${encodeURIComponent(sample[n]!)}`)
  const search = (id: string) => send("GET", `/emoji_id/search?emoji_id=${encodeURIComponent(id)}`)
  await timed(50, () => send("GET", "/account"))
  for (const state of ["cold", "warm"]) {
    await add(`lookup, ${state}`, sample.length, lookUp)
    await add(`search of a free id, ${state}`, searches, (n) => search(free(n)))
    await add(`search of a taken id, ${state}`, searches, (n) => search(sample[n]!))
  }
  for (let cart = 0; cart < carts; cart++) {
    const item = (n: number) => ({ items: [{ emoji_id: free(cart * itemsPerCart + n) }] })
    await add("cart: add", itemsPerCart, (n) => send("POST", "/cart", item(n)))
    await add("cart: delete", 1, () => send("DELETE", "/cart"))
  }
  const edit = (n: number) => ({ insert: [{ tag: "0x0002", data: `Note ${round} ${n}` }] })
  await add("edit of records", 100, (n) => send("PATCH", `/emoji_id/${encodeURIComponent(own)}`, edit(n)))
}

/** Returns an id of the user whose token is used. */
const findOwned = async (server: RunningServer): Promise<string> => {
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

const report = (few: Subject, many: Subject): string => {
  const calls = Object.keys(few.latencies).map((name) => {
    const [a = [], b = []] = [few.latencies[name], many.latencies[name]]
    const cells = [a, b].flatMap((found) => [percentileOf(found, 0.5), percentileOf(found, 0.99)])
    const ratio = percentileOf(b, 0.5) / percentileOf(a, 0.5)
    return `| ${name} | ${cells.map(ms).join(" | ")} | ${ratio.toFixed(2)} |`
  })
  const [n, m] = [few, many].map(({ ids }) => ids.toLocaleString("en"))
  const perId = (bytes: number) => Math.round(bytes / many.ids)
  const sizes = many.sizes.map(
    ({ bytes, heapBytes, table }) =>
      `| \`${table}\` | ${perId(heapBytes)} | ${perId(bytes - heapBytes)} | ${perId(bytes)} |`,
  )
  return [
    `| call | p50 with ${n} ids, ms | p99 | p50 with ${m} ids, ms | p99 | ratio of p50 |`,
    "|---|---|---|---|---|---|",
    ...calls,
    "",
    "| table | heap bytes per id | index bytes per id | together |",
    "|---|---|---|---|",
    ...sizes,
    `| all | | | ${perId(many.sizes.reduce((sum, { bytes }) => sum + bytes, 0))} |`,
  ].join("\n")
}

/**
 * Measures a service with 1,000 ids and one with `ids` ids in turns, with sequential requests. Then imports a file into the
 * second one with the command line. Returns Markdown tables of the latencies and the disk space, and the import rates.
 */
export async function runIds(ids: number, onStep: (step: string) => void): Promise<string> {
  const subjects: Subject[] = []
  try {
    for (const count of [fewIds, ids]) subjects.push(await prepare(count, onStep))
    for (let round = 0; round < rounds; round++)
      for (const subject of subjects) {
        onStep(`${subject.ids} ids: round ${round + 1} of ${rounds}`)
        await measureRound(subject, round)
      }
    const [few, many] = subjects as [Subject, Subject]
    onStep("import")
    return `${report(few, many)}\n\n${await measureImport(many.server)}`
  } finally {
    for (const { server } of subjects) await server.stop()
  }
}
