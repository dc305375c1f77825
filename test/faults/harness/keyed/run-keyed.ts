import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { type Answer, request } from "../../../fixtures/api-call.ts"
import type { TestService } from "../../../fixtures/test-service.ts"
import { startWorker } from "../../../fixtures/worker.ts"
import { noticesAreSent } from "../../../history/pending-notices.ts"
import { changesBetween, type Snapshot, takeSnapshot } from "./database-changes.ts"
import { type KeyedRow, methodOf } from "./keyed-routes.ts"
import type { Prepared } from "./prepared.ts"
import { shapeOf } from "./shape.ts"

/**
 * How the service of the fixtures is started: `peersPossible` makes it read the database, because fixtures change rows
 * directly. Passwords cost as much as in the other processes, which would otherwise hash them again.
 */
export const keyedService = { peersPossible: true, passwords: {} }

const settlePollMs = 150
const settlePolls = 40

/** The result of one row: empty if the retry after the kill is the same as the undisturbed request. */
export interface KeyedResult {
  readonly name: string
  readonly status: number
  readonly faults: ReadonlyArray<string>
}

/** Starts a process that kills itself when it has committed a keyed request, before it answers. */
const startDoomed = (service: TestService) =>
  startWorker(service.database, { FAILPOINT: "request.after_commit" })

const send = ({ row }: KeyedRow, url: string, prepared: Prepared, key: string): Promise<Answer> => {
  const { body, headers, path, rawBody, token } = prepared
  return request(`${url}${path}`, methodOf(row), {
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body }),
    ...(rawBody === undefined ? {} : { rawBody }),
    headers: { ...headers, "idempotency-key": key },
  })
}

/** Waits until the notices to owners are sent, and returns all rows. */
const settledSnapshot = async ({ sql }: TestService): Promise<Snapshot> => {
  while (!(await noticesAreSent(sql))) await sleep(settlePollMs)
  return takeSnapshot(sql)
}

/** Waits until the changes after a request are the same twice, because mails and webhooks follow later. */
const settledChanges = async (service: TestService, before: Snapshot): Promise<ReadonlyArray<string>> => {
  let last = ""
  for (let poll = 0; ; poll++) {
    const changes = changesBetween(before, await settledSnapshot(service))
    if (JSON.stringify(changes) === last || poll === settlePolls) return changes
    last = JSON.stringify(changes)
    await sleep(settlePollMs)
  }
}

/** Whether a repeated request waits for the lease of the process that was killed. */
const isRunning = ({ status, text }: Answer): boolean => status === 409 && text.includes("still running")

/** Sends the request again. The lease of the killed process is ended first, so that nothing waits for it. */
const retry = async (service: TestService, row: KeyedRow, prepared: Prepared, key: string) => {
  const first = await send(row, service.url, prepared, key)
  if (!isRunning(first)) return first
  await service.sql`update idempotency_key set leased_until = now() where key = ${key} and status is null`
  return send(row, service.url, prepared, key)
}

const show = ({ status, text }: Answer) => `${status} ${text.slice(0, 160)}`

/**
 * Compares an undisturbed request with one whose process is killed after the commit and that is repeated at another
 * process: same status, same shape of the answer, the same changes of the database, and the same answer once more.
 */
const compare = async (service: TestService, row: KeyedRow): Promise<KeyedResult> => {
  const doomed = await startDoomed(service)
  const control = await row.prepare(service)
  let before = await settledSnapshot(service)
  const expected = await send(row, service.url, control, randomUUID())
  await control.meanwhile?.()
  const expectedChanges = await settledChanges(service, before)

  const prepared = await row.prepare(service)
  before = await settledSnapshot(service)
  const key = randomUUID()
  const faults: Array<string> = []
  const lost = await send(row, doomed.url, prepared, key).catch(() => undefined)
  if (lost !== undefined) {
    faults.push(`the process was not killed, but answered ${show(lost)}`)
  }
  await doomed.kill()
  await prepared.meanwhile?.()
  const repeated = await retry(service, row, prepared, key)
  const changes = await settledChanges(service, before)
  const again = await send(row, service.url, prepared, key)

  if (expected.status >= 400) faults.push(`the undisturbed request was refused: ${show(expected)}`)
  if (repeated.status !== expected.status) faults.push(`answered ${show(repeated)} after the kill`)
  else if (shapeOf(repeated) !== shapeOf(expected))
    faults.push(`answered another shape after the kill: ${shapeOf(repeated)}, expected ${shapeOf(expected)}`)
  if (JSON.stringify(changes) !== JSON.stringify(expectedChanges))
    faults.push(`changed [${changes.join("; ")}], expected [${expectedChanges.join("; ")}]`)
  if (again.status !== repeated.status || again.text !== repeated.text)
    faults.push(`repeated once more: ${show(again)} instead of ${show(repeated)}`)
  return { name: row.name, status: expected.status, faults }
}

/** Runs a row. A difference counts only if it appears twice, because a background job can change rows at any time. */
export const runKeyed = async (service: TestService, row: KeyedRow): Promise<KeyedResult> => {
  const first = await compare(service, row)
  return first.faults.length === 0 ? first : compare(service, row)
}
