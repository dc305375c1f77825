import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { dashboardQueries, needsAnEvent } from "../fixtures/dashboard.ts"
import { freePort } from "../fixtures/free-port.ts"
import { type Program, startProgram, temporaryFolder, workersOf } from "../fixtures/program.ts"
import { prometheusProgram, promtool, startPrometheus } from "../fixtures/servers/prometheus.ts"
import { patiently } from "../fixtures/suite/patience.ts"

let service: Program
let scrapeUrl: string
let url: string

beforeAll(async () => {
  const [port, metricsPort] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}`
  scrapeUrl = `http://127.0.0.1:${metricsPort}/metrics`
  service = startProgram({
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    DATA_DIR: temporaryFolder(),
    DEMO: "true",
    WORKERS: "2",
    LOG_LEVEL: "Fatal",
  })
  await service.printed("docs")
})
afterAll(async () => {
  service.child.kill("SIGTERM")
  await service.ended
})

/** Every request has a connection of its own, so that both workers get some. */
const get = (address: string) => fetch(address, { headers: { connection: "close" } })
const oncePerScrape = { ...patiently, interval: 1000 }
const emoji = ["🐙", "🎈", "🎲", "🍀"]
let bought = 0
/** Alice, a demo user, looks an id up and buys it. Her first id is free; other checkouts are refused. */
const buyOneId = async () => {
  const login = await post("/auth/token", { email: "alice@example.com", password: "alice-demo-1" })
  const { access_token } = (await login.json()) as { access_token: string }
  const id = [3, 2, 1, 0].map((digit) => emoji[Math.floor(bought / 4 ** digit) % 4]).join("")
  bought++
  for (let i = 0; i < 4; i++) await get(`${url}/emoji_id/${encodeURIComponent(id)}`)
  await post("/cart", { items: [{ emoji_id: id }] }, access_token)
  await post("/cart/checkout", { method: "Free" }, access_token)
}
const post = (path: string, body: unknown, token?: string) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      connection: "close",
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
/** Repeats a scrape that reached a worker that was just killed or suspended. */
const scrape = async (): Promise<string> => {
  let text: string | undefined
  await expect
    .poll(async () => {
      const answer = await fetch(scrapeUrl, {
        headers: { connection: "close" },
        signal: AbortSignal.timeout(5000),
      }).catch(() => undefined)
      text = answer?.status === 200 ? await answer.text() : undefined
      return text
    }, patiently)
    .toBeDefined()
  return text ?? ""
}
const readValue = (text: string, series: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}
const countOf = (text: string, route: string): number =>
  text
    .split("\n")
    .filter((line) => line.startsWith("http_requests_total{") && line.includes(`route="${route}"`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0)

describe("one scrape of a service with two workers", () => {
  it("counts the requests of both workers, and cached responses with their real status", async () => {
    const path = `${url}/emoji_id/${encodeURIComponent("🐙🎈")}`
    for (let i = 0; i < 40; i++) expect((await get(path)).status).toBe(404)
    const text = await scrape()
    expect(countOf(text, "/emoji_id/:emoji_id")).toBe(40)
    const labels = 'method="GET",route="/emoji_id/:emoji_id",kind="lookup",status="404"'
    const cached = readValue(text, `http_requests_total{${labels},cached="true"}`) ?? 0
    const handled = readValue(text, `http_requests_total{${labels},cached="false"}`) ?? 0
    expect(cached + handled).toBe(40)
    expect(cached).toBeGreaterThan(handled)
  })

  it.skipIf(prometheusProgram === undefined)(
    "is accepted by `promtool check metrics` (needs the package prometheus)",
    async () => {
      expect(promtool(["check", "metrics"], await scrape())).toBe("")
    },
  )

  it.skipIf(prometheusProgram === undefined)(
    "has data for every query of the dashboard, evaluated by a real Prometheus (needs the package prometheus)",
    async () => {
      const prometheus = await startPrometheus(new URL(scrapeUrl).host)
      try {
        // Series that appear between two scrapes have no rate before the third, so the traffic continues.
        const hasData = async (query: string) =>
          (await prometheus.query(query)).some(({ value: [, value] }) => value !== "NaN")
        let empty: ReadonlyArray<string> = []
        await expect
          .poll(async () => {
            await buyOneId()
            empty = []
            for (const { panel, query } of dashboardQueries())
              if (!(panel in needsAnEvent) && !(await hasData(query)))
                empty = [...empty, `${panel}: ${query}`]
            return empty
          }, oncePerScrape)
          .toEqual([])
        // Prometheus accepts the others too.
        for (const { query } of dashboardQueries()) await prometheus.query(query)
      } finally {
        await prometheus.stop()
      }
    },
  )

  it("has counters and histograms for what only grows, and no other type for names that end in _total", async () => {
    const types = [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(
      ([, name = "", type = ""]) => [name, type] as const,
    )
    expect(types.length).toBeGreaterThan(40)
    for (const [name, type] of types)
      expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"])
  })

  it("leaves out the gauges of a suspended worker and keeps its counters", async () => {
    const before = await scrape()
    const [suspended] = workersOf(service)
    process.kill(suspended!, "SIGSTOP")
    try {
      await expect
        .poll(async () => (await scrape()).match(/^worker_up\{worker="\d"\} 0$/gm)?.length, patiently)
        .toBe(1)
      const text = await scrape()
      expect(text.match(/^process_heap_bytes\{worker="\d"\}/gm)).toHaveLength(1)
      expect(countOf(text, "/emoji_id/:emoji_id")).toBe(countOf(before, "/emoji_id/:emoji_id"))
    } finally {
      process.kill(suspended!, "SIGCONT")
    }
  })

  it("has counters that do not become smaller when a worker is killed and replaced", async () => {
    const before = await scrape()
    process.kill(workersOf(service)[0]!, "SIGKILL")
    await expect.poll(async () => readValue(await scrape(), "worker_restarts_total"), patiently).toBe(1)
    await expect
      .poll(async () => (await scrape()).match(/^worker_up\{worker="\d"\} 1$/gm)?.length, patiently)
      .toBe(2)
    const after = await scrape()
    expect(countOf(after, "/emoji_id/:emoji_id")).toBe(countOf(before, "/emoji_id/:emoji_id"))
    const statements = 'postgres_statements_total{outcome="answered"}'
    expect(readValue(after, statements)).toBeGreaterThan(readValue(before, statements) ?? 0)
  })
})
