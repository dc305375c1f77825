import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, describe, expect, it } from "vitest"
import { type ContestPlan, runContest } from "../../../bench/load/contest.ts"
import { buildRequest } from "../../../bench/load/request.ts"

const won = new Set<string>()
const seen: string[] = []
/**
 * A server that grants each prize to the first request for it and rejects later requests for the same prize with 422.
 * Requests for other paths always succeed.
 */
const server = createServer((request, response) => {
  const path = request.url ?? ""
  seen.push(path.split("/")[1] ?? "")
  if (path.startsWith("/prize/") && won.has(path)) response.statusCode = 422
  if (path.startsWith("/prize/")) won.add(path)
  response.end(response.statusCode === 422 ? "eligibility" : "{}")
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
afterAll(() => server.close())

const { port } = server.address() as AddressInfo
const target = { side: "service", host: "127.0.0.1", port, tls: false, basePath: "" }
const load = { connections: 8, warmupSeconds: 0, durationSeconds: 0.1, timeoutSeconds: 2 }
const get = (path: string) => buildRequest(target, { path })

const plan = (shoot: ContestPlan["shoot"], winners: number, times: ContestPlan["times"]): ContestPlan => ({
  ready: [() => get("/ready")],
  shoot,
  hasWon: ({ status }) => (status === 200 ? true : status === 422 ? false : undefined),
  winners: () => winners,
  times,
  leave: [() => get("/leave")],
})

describe("a contest between simultaneous requests", () => {
  it("has one winner in each round, and measures the response times of the losers", async () => {
    const { run, rounds } = await runContest(
      target,
      plan((_, round) => get(`/prize/${round}`), 1, "losers"),
      load,
      undefined,
      3,
    )
    expect(run.errors).toEqual({})
    expect(run.completed).toBe((rounds - 3 - 1) * 7)
    expect(run.ratePerSecond).toBeGreaterThan(0)
    expect(seen.slice(0, 24).join(" ")).toMatch(/^(ready ?){8}(prize ?){8}(leave ?){8}$/)
  })

  it("reports an unexpected number of winners as an error, and too many as a wrong answer", async () => {
    const allWin = plan(() => get("/all"), 1, "all")
    const { run } = await runContest(target, allWin, load, undefined, 0)
    expect(run.errors["8 winners"]).toBeGreaterThan(0)
    expect(run.audit?.wrong[0]).toMatch(/^oversell: 8 of 8 won in round \d+, not 1$/)
  })
})
