import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { fewClients } from "../../bench/scenarios/few-clients.ts"
import { bareUpdates, type RunningServer } from "../../bench/side.ts"

let server: RunningServer
beforeAll(async () => {
  server = await bareUpdates().start()
})
afterAll(() => server.stop())

describe("the baseline of few clients", () => {
  it("answers each request after its update", async () => {
    const url = `http://${server.target.host}:${server.target.port}/update`
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { method: "POST" })))
    for (const answer of answers) expect([answer.status, await answer.text()]).toEqual([200, '["updated"]'])
  })

  it("gets the update in place of each request of the service", () => {
    for (const scenario of fewClients) {
      const next = scenario.requests(server.target, undefined as never)
      expect(typeof next === "function" && next(0).toString()).toMatch(/^POST \/update HTTP/)
    }
  })
})
