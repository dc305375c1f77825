import { performance } from "node:perf_hooks"
import { routes } from "../../src/routes.ts"
import { urlOfTarget } from "../load/request.ts"
import { median } from "../report/spread.ts"
import type { RunningServer } from "../side.ts"
import { adminNumber } from "../stored/entities.ts"
import { storeEveryTable } from "../stored/every-table.ts"
import { tokensFor } from "../stored/people.ts"
import { service } from "../subject.ts"
import { cursorIn, isExpected, isRefused, type Read, readsOf, withCursor } from "./reads.ts"
import { few, listsTable, type MeasuredRead } from "./table.ts"

/** How many rows the requests of one read are about, spread over all stored rows. */
const subjects = 8
/** The time for the requests of one read on one side, in each of the rounds. */
const secondsPerRound = 0.1
const rounds = 3

interface Side {
  readonly server: RunningServer
  readonly rows: number
  readonly numbers: readonly number[]
  readonly userTokens: readonly string[]
  readonly adminToken: string
}

/** Returns `subjects` odd numbers of rows. Users with an odd number own a paid order and a lootbox. */
const numbersOf = (rows: number): readonly number[] =>
  Array.from({ length: subjects }, (_, k) => 2 * Math.floor((k * rows) / subjects / 2) + 1)

const startSide = async (rows: number, onStep: (step: string) => void): Promise<Side> => {
  onStep(`lists: storing ${rows} rows in every table`)
  const server = await service(`service with ${rows} rows`, { SWEEP_INTERVAL_MS: "60000" }).start()
  try {
    await storeEveryTable(server, rows)
    const numbers = numbersOf(rows)
    const userTokens = await tokensFor(server, numbers)
    const [adminToken = ""] = await tokensFor(server, [adminNumber], "Admin")
    return { server, rows, numbers, userTokens, adminToken }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/**
 * Sends a request about the k-th number of `numbers`. Undefined if the caller is refused. A 503 is accepted, because a
 * statement over many rows can exceed its time limit; the latency then shows it.
 */
const send = async (side: Side, read: Read, path: string, k: number): Promise<string | undefined> => {
  const token = { anonymous: undefined, user: side.userTokens[k], admin: side.adminToken }[read.caller]
  const answer = await fetch(urlOfTarget(side.server.target, path), {
    redirect: "manual",
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
  const text = await answer.text()
  if (isRefused(read, answer.status)) return undefined
  if (isExpected(read, answer.status) || answer.status === 503) return text
  throw new Error(`${path}, ${read.name}: ${answer.status} ${text.slice(0, 300)}`)
}

/** Returns the path of each request of the read, or undefined if the caller is refused. */
const pathsOf = async (side: Side, read: Read): Promise<readonly string[] | undefined> => {
  const paths = side.numbers.map(read.path)
  const [first = ""] = paths
  const text = await send(side, read, first, 0)
  if (text === undefined) return undefined
  if (read.cursor === undefined) return paths
  // Every request continues the list of the first caller.
  const cursor = cursorIn(JSON.parse(text), read.cursor)
  return [cursor === undefined ? first : withCursor(first, read.cursor, cursor)]
}

/** Sends the requests one after the other, and returns the median of the latencies. */
const latencyOf = async (side: Side, read: Read, paths: readonly string[]): Promise<number> => {
  const latencies: number[] = []
  const endsAt = performance.now() + secondsPerRound * 1000
  for (let turn = 0; turn === 0 || performance.now() < endsAt; turn++) {
    const k = turn % paths.length
    const sentAt = performance.now()
    await send(side, read, paths[k] ?? "", k)
    latencies.push(performance.now() - sentAt)
  }
  return median(latencies)
}

/** Measures one read on both sides in turns. Undefined if the caller is refused. */
const measureRead = async (sides: readonly [Side, Side], read: Read): Promise<MeasuredRead | undefined> => {
  const [small, large] = sides
  const [smallPaths, largePaths] = [await pathsOf(small, read), await pathsOf(large, read)]
  if (smallPaths === undefined || largePaths === undefined) return undefined
  const fewMs: number[] = []
  const manyMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    fewMs.push(await latencyOf(small, read, smallPaths))
    manyMs.push(await latencyOf(large, read, largePaths))
  }
  return { name: read.name, fewMs: Math.min(...fewMs), manyMs: Math.min(...manyMs) }
}

/**
 * Measures every GET route, as a user and as an administrator, with few and with many rows of each kind. Returns a
 * Markdown table.
 */
export async function runLists(onStep: (step: string) => void, many: number): Promise<string> {
  const small = await startSide(few, onStep)
  try {
    const large = await startSide(many, onStep)
    try {
      const measured: MeasuredRead[] = []
      for (const read of readsOf(routes)) {
        onStep(`lists: ${read.name}`)
        const one = await measureRead([small, large], read)
        if (one !== undefined) measured.push(one)
      }
      return listsTable(measured, many)
    } finally {
      await large.server.stop()
    }
  } finally {
    await small.server.stop()
  }
}
