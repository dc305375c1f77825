import { sendAll } from "../load/send-all.ts"
import { sleepSeconds } from "../load/wait.ts"
import type { RequestScenario } from "../scenario.ts"
import { bareUws } from "../side.ts"
import { service } from "../subject.ts"
import { gets, pick, store } from "./lookups.ts"

const ids = 1_000
const meetingSeconds = 6
/** Enough requests that every process has looked up every id. */
const rounds = 8

const two = service("WORKERS=2", { WORKERS: "2" })
const aims = [{ metric: "cpu", atMost: 1.1 }] as const

const lookups = {
  firstWarmupSeconds: 6,
  setupSeconds: 15,
  subject: two,
  prepare: async (server) => {
    await store(server, { ids })
    // After a start, a process does not use its cache until it has received the changes of the others for some time.
    if (server.target.side === two.name) await sleepSeconds(meetingSeconds)
    const requests = gets(server.target, ids)
    await sendAll(server.target, requests.length * rounds, (n) => requests[n % ids]!)
  },
  requests: (target) => pick(gets(target, ids)),
  check: (answer) => answer.body.length > 0,
} satisfies Partial<RequestScenario<void>>

/** Two servers and the generator share two cores, so any second process has a cost. */
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

/** Below the peak, where no process waits for a core and each has the same load. */
export const workersEach: RequestScenario<void> = {
  ...lookups,
  name: "workers-each",
  summary: "20,000 lookups per second by two processes, against one process with half the load",
  onRequest: true,
  ratePerSecond: 20_000,
  against: [{ side: service("WORKERS=1, half the load", { WORKERS: "1" }), share: 0.5, aims }],
}
