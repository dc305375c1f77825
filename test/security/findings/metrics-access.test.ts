import { describe, expect, it, vi } from "vitest"
import { readConfig } from "../../../src/config/read-config.ts"
import { freePort } from "../../fixtures/free-port.ts"
import { request, serve } from "../../fixtures/service.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

const production = { NODE_ENV: "production", RATE_LIMIT: "on" }
const token = "0123456789abcdef"

describe("GET /metrics in production", () => {
  it("is 404 without METRICS_PORT and METRICS_TOKEN", async () => {
    const service = await serve(production)
    expect((await service.call("GET", "/metrics")).status).toBe(404)
    expect((await service.call("GET", "/health")).status).toBe(200)
  })

  it("requires the token with METRICS_TOKEN", async () => {
    const service = await serve({ ...production, METRICS_TOKEN: token })
    expect((await service.call("GET", "/metrics")).status).toBe(401)
    expect((await service.call("GET", "/metrics", { token: `${token}0` })).status).toBe(401)
    const given = await service.call("GET", "/metrics", { token })
    expect(given.status).toBe(200)
    expect(given.text).toContain("http_requests_total")
  })

  it("is served only on METRICS_PORT if that is set, which serves nothing else", async () => {
    const port = await freePort()
    const service = await serve({ ...production, METRICS_PORT: String(port) })
    expect((await service.call("GET", "/metrics")).status).toBe(404)
    const own = (path: string) => request(`http://127.0.0.1:${port}${path}`, "GET")
    expect((await own("/metrics")).text).toContain("http_requests_total")
    expect((await own("/health")).status).toBe(404)
    await service.stop()
    await expect(own("/metrics")).rejects.toThrow()
  })

  it("requires the token on METRICS_PORT too if both are set", async () => {
    const port = await freePort()
    await serve({ ...production, METRICS_PORT: String(port), METRICS_TOKEN: token })
    const url = `http://127.0.0.1:${port}/metrics`
    expect((await request(url, "GET")).status).toBe(401)
    expect((await request(url, "GET", { token })).status).toBe(200)
  })
})

it("a production start without both settings logs why GET /metrics is not served", async () => {
  const lines: Array<string> = []
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
  cleanUp(async () => log.mockRestore())
  await serve({ ...production, LOG_LEVEL: "Warn" }, { preparesData: true })
  await expect.poll(() => lines.join("\n")).toContain("set METRICS_PORT")
})

it("outside production GET /metrics needs no settings", async () => {
  expect((await (await serve()).call("GET", "/metrics")).status).toBe(200)
})

it.each([
  [{ METRICS_PORT: "3001" }, "METRICS_PORT: expected another port than PORT"],
  [{ METRICS_TOKEN: "short" }, "METRICS_TOKEN: expected at least 16 visible ASCII characters without spaces"],
  [{ METRICS_TOKEN: "0123456789 abcdef" }, "METRICS_TOKEN: expected at least 16"],
])("the settings %j are refused", (environment, problem) => {
  expect(readConfig(environment)).toEqual({ problems: [expect.stringContaining(problem)] })
})
