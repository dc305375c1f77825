import type { Endpoint, RawRequest, RawResponse } from "../endpoint.ts"
import { type WorkKind, workKinds } from "../route.ts"
import { TurnBudget } from "./turn-budget.ts"
import { type Work, WorkQueue } from "./work-queue.ts"

/**
 * How many requests of each kind run at the same time, between the limits. More would not make the service faster.
 * Writes share statements, so many are useful. The number of requests that wait for a provider does not depend on how
 * many are completed, because they use nothing of ours meanwhile.
 */
const limits: Record<WorkKind, { readonly minRunning: number; readonly maxRunning: number }> = {
  lookup: { minRunning: 64, maxRunning: 1024 },
  read: { minRunning: 32, maxRunning: 256 },
  batch: { minRunning: 8, maxRunning: 64 },
  login: { minRunning: 8, maxRunning: 128 },
  provider: { minRunning: 256, maxRunning: 256 },
  write: { minRunning: 256, maxRunning: 512 },
}

/** So much longer may a request take until its statements, if it waits for another service or for password hashing. */
const providerMs = 10_000

export interface AdmissionOptions {
  readonly maxWaitMs: number
  /** Makes the response to a request that was not begun. */
  readonly overloaded: (
    requestId: string,
    retryAfterSeconds: number,
    shape: Endpoint["errorBody"],
  ) => RawResponse
}

/** Decides for each request whether it is begun, waits, or is refused. Nothing of the request is decoded before. */
export const makeAdmission = ({ maxWaitMs, overloaded }: AdmissionOptions) => {
  // The kinds that wait share the budget of each turn, so a flood of one kind does not stop the others. What a kind does
  // not need is left to the others.
  const budget = new TurnBudget(() => {
    let waiting: ReadonlyArray<WorkQueue> = Object.values(queues)
    while (waiting.length > 0) waiting = waiting.filter((queue) => queue.startOne())
  })
  const queues = Object.fromEntries(
    workKinds.map((kind) => [kind, new WorkQueue({ budget, maxWaitMs, ...limits[kind] })]),
  ) as Record<WorkKind, WorkQueue>

  const admit = (endpoint: Endpoint): Endpoint => {
    if (endpoint.work === undefined) return endpoint
    const queue = queues[endpoint.work]
    const isSlow = endpoint.work === "provider" || endpoint.work === "login"
    const handle = (given: RawRequest, respond: (response: RawResponse) => void) => {
      const discardAt = given.arrivedAt + maxWaitMs
      const request = { ...given, discardAt: isSlow ? discardAt + providerMs : discardAt }
      let cancel: (() => boolean) | undefined
      const work: Work = {
        discardAt,
        begin: () => {
          cancel = endpoint.handle(request, (response) => {
            queue.done(response.status !== 503)
            respond(response)
          })
        },
        refuse: (seconds) => respond(overloaded(given.id, seconds, endpoint.errorBody)),
      }
      queue.add(work)
      return () => {
        queue.remove(work)
        return cancel === undefined ? true : cancel()
      }
    }
    return { ...endpoint, handle, refuses: () => queue.refuses() }
  }

  return { admit, stats: (kind: WorkKind) => queues[kind].stats() }
}

export type Admission = ReturnType<typeof makeAdmission>
