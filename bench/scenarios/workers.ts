import { sendAll } from "../load/send-all.ts"
import { sleepSeconds } from "../load/wait.ts"
import type { RequestScenario } from "../scenario.ts"
import { bareUws } from "../side.ts"
import { service } from "../subject.ts"
import { gets, pick, store } from "./lookups.ts"

const ids = 1_000
const meetingSeconds = 6
/** How often each id is looked up before the measurement, so that each process has nearly all ids in memory. */
const rounds = 8

const two = service("WORKERS=2", { WORKERS: "2" })
const aims = [{ metric: "cpu", atMost: 1.1 }] as const

const lookups = {
  firstWarmupSeconds: 6,
  setupSeconds: 15,
  subject: two,
  prepare: async (server) => {
    await store(server, { ids })
    // After a start, a process uses its caches only after it has listened to the other processes for some time.
    if (server.target.side === two.name) await sleepSeconds(meetingSeconds)
    const requests = gets(server.target, ids)
    await sendAll(server.target, requests.length * rounds, (n) => requests[n % ids]!)
  },
  requests: (target) => pick(gets(target, ids)),
  check: (answer) => answer.body.length > 0,
} satisfies Partial<RequestScenario<void>>

/**
 * Compares two processes of the service with one, at the peak rate. The servers and the generator share two cores, so
 * a second process of any program has a cost. To remove this cost, the CPU ratio is divided by the ratio of two bare
 * uWebSockets.js processes to one.
 */
export const workers: RequestScenario<void> = {
  ...lookups,
  name: "workers",
  summary:
    "lookups of 1,000 ids by two processes against one, corrected by the cost of a second bare process",
  against: [
    {
      side: service("WORKERS=1", { WORKERS: "1" }),
      aims,
      beyond: { subject: bareUws("two bare processes", 2), side: bareUws("one bare process") },
    },
  ],
}

/**
 * Two processes against one, at a rate below the peak. There no process waits for a core, and each process has the
 * same load.
 */
export const workersEach: RequestScenario<void> = {
  ...lookups,
  name: "workers-each",
  summary: "20,000 lookups per second by two processes, against one process with half the load",
  onRequest: true,
  ratePerSecond: 20_000,
  against: [{ side: service("WORKERS=1, half the load", { WORKERS: "1" }), share: 0.5, aims }],
}
