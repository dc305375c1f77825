import { randomUUID } from "node:crypto"
import { cursorIn, isExpected, type Read, readsOf, withCursor } from "../../bench/lists/reads.ts"
import { targetOfUrl } from "../../bench/load/request.ts"
import { adminNumber } from "../../bench/stored/entities.ts"
import { tokensFor } from "../../bench/stored/people.ts"
import { takesKey } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { seeded } from "../fixtures/walk.ts"
import { sendJourneys } from "../security/fuzz/fuzzer.ts"
import { Lane } from "../security/fuzz/lane.ts"
import { Tally } from "../security/fuzz/tally.ts"
import { World } from "../security/fuzz/world.ts"
import type { DrivenService } from "./driven-service.ts"

/** Remembers what was done when, so that a statement can be reported with the request that caused it. */
export class Steps {
  readonly #ended: Array<{ readonly name: string; readonly at: number }> = []

  ended(name: string): void {
    this.#ended.push({ name, at: Date.now() })
  }

  /** The step during which something happened at the given time. */
  at(time: number): string {
    return this.#ended.find(({ at }) => at >= time)?.name ?? "the end of the drive"
  }
}

/** Sends the journeys of the fuzzer, which call every operation. Requests that can have an Idempotency-Key have one. */
export const driveJourneys = async ({ sql, target }: DrivenService, steps: Steps): Promise<Tally> => {
  await sql`update app_user set role = 'Super' where email = ${target.admin.email}`
  const tally = new Tally()
  const lane = new Lane({ ...target, sql }, tally, seeded(1))
  const send = lane.send.bind(lane)
  lane.send = async (draft) => {
    const keyed = takesKey(draft.row) ? { "idempotency-key": randomUUID() } : {}
    const answer = await send({ ...draft, headers: { ...keyed, ...draft.headers } })
    steps.ended(`${draft.method} ${draft.row.path}`)
    return answer
  }
  await sendJourneys(new World(lane))
  lane.close()
  return tally
}

const pathsOf = async (
  read: Read,
  n: number,
  call: (path: string) => Promise<{ readonly body: unknown }>,
) => {
  const path = read.path(n)
  if (read.cursor === undefined) return path
  const cursor = cursorIn((await call(path)).body, read.cursor)
  return cursor === undefined ? path : withCursor(path, read.cursor, cursor)
}

/** Sends every GET request of the bench scenario `lists` once. Returns those that were not answered as expected. */
export const driveReads = async (
  { service, target }: DrivenService,
  steps: Steps,
): Promise<ReadonlyArray<string>> => {
  const server = { ...target, target: targetOfUrl("service", new URL(service.url)), stop: async () => {} }
  const n = 7
  const [user = ""] = await tokensFor(server, [n])
  const [admin = ""] = await tokensFor(server, [adminNumber], "Admin")
  const options = { anonymous: {}, user: { token: user }, admin: { token: admin } }
  const wrong: Array<string> = []
  for (const read of readsOf(routes)) {
    const call = (path: string) => service.call("GET", path, options[read.caller])
    const { status, text } = await call(await pathsOf(read, n, call))
    steps.ended(read.name)
    if (!isExpected(read, status)) wrong.push(`${read.name}: ${status} ${text.slice(0, 120)}`)
  }
  return wrong
}
