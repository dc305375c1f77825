import { expect, it, vi } from "vitest"
import { serveDirectory } from "../directory/directory-service.ts"
import { openSocket } from "../fixtures/raw-http.ts"
import { type Answer, serve } from "../fixtures/service.ts"
import { freshIds } from "../orders/shopper.ts"

const cached = "🐙🌊"

/** Runs `use` while another session holds a lock on the table, and releases the lock afterwards. */
const whileLocked = async <A>(
  service: { readonly sql: Awaited<ReturnType<typeof serve>>["sql"] },
  lock: string,
  use: () => Promise<A>,
): Promise<A> => {
  let result: A | undefined
  await service.sql.begin(async (sql) => {
    await sql.unsafe(lock)
    result = await use()
  })
  return result as A
}

/** Collects the answers of requests as they arrive. */
const collect = (requests: ReadonlyArray<Promise<Answer>>) => {
  const answers: Array<Answer> = []
  for (const request of requests) request.then((answer) => answers.push(answer)).catch(() => {})
  return answers
}

const isOverloaded = ({ body, headers, status }: Answer): boolean =>
  status === 503 && body.code === "unavailable" && Number(headers.get("retry-after")) > 0

/**
 * Sends a refused request, its body in two parts, and then another request on the same connection. The server closes
 * connections that are idle for ten seconds: on a busy machine this can happen in between, and then it is done again.
 * Returns the number of refused requests.
 */
const refusedThenServed = async (url: string): Promise<number> => {
  const socket = await openSocket(Number(new URL(url).port))
  let received = ""
  socket.on("data", (chunk) => {
    received += chunk
  })
  const body = Buffer.from(JSON.stringify({ emoji_ids: freshIds(100) }))
  socket.write(`POST /emoji_id/lookup HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`)
  socket.write(body.subarray(0, 60))
  // The answer to another request shows that the server has received the first part.
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(received).toBe("")
  socket.write(body.subarray(60))
  await expect
    .poll(() => received)
    .toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: \d+\r\n.*"code":"unavailable"/s)
  socket.write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
  const isServed = () => received.includes('{"status":"ok"}')
  await expect.poll(() => isServed() || socket.closed).toBe(true)
  socket.destroy()
  return isServed() ? 1 : 1 + (await refusedThenServed(url))
}

const gauge = (text: string, name: string, kind: string): number =>
  Number(new RegExp(`^\\w*${name}\\{[^}]*kind="${kind}"[^}]*\\} (\\S+)$`, "m").exec(text)?.[1])

it("requests beyond a full queue get 503 at once, other kinds of requests are served, and later all are again", async () => {
  // With 100 requests in the queue and none completed, the expected wait is 100 seconds: more than half of this time.
  const service = await serveDirectory({ STATEMENT_TIMEOUT_MS: "600000" }, { maxWaitMs: 180_000 })
  const owner = await service.user()
  await service.register(cached, owner)
  const look = () => service.call("GET", `/emoji_id/${encodeURIComponent(cached)}`)
  const lookUpMany = (id: string) => service.call("POST", "/emoji_id/lookup", { body: { emoji_ids: [id] } })
  const known = await look()
  expect(known.status).toBe(200)
  const requests: Array<Promise<Answer>> = []
  const refused = await whileLocked(service, "lock table emoji_id in access exclusive mode", async () => {
    // 64 of them run. The others wait, until the service has measured that none is completed.
    requests.push(...freshIds(64 + 100).map(lookUpMany))
    const batchGauge = async (name: string) =>
      gauge((await service.call("GET", "/metrics")).text, name, "batch")
    const isFull = async () => {
      requests.push(...freshIds(1).map(lookUpMany))
      return (await batchGauge("http_requests_refused_total")) > 0
    }
    await expect.poll(isFull).toBe(true)
    requests.push(...freshIds(100).map(lookUpMany))
    const answers = collect(requests)
    await expect.poll(() => answers.length).toBeGreaterThan(100)
    expect((await look()).text).toBe(known.text)
    expect((await service.call("GET", "/health")).status).toBe(200)
    expect((await service.call("GET", "/ready")).status).toBe(200)
    const written = await service.call("PATCH", "/account", {
      token: owner.token,
      body: { first_name: "Ada" },
    })
    expect(written.status).toBe(200)
    const further = await refusedThenServed(service.url)
    expect(await batchGauge("http_requests_waiting")).toBeGreaterThan(0)
    expect(await batchGauge("http_requests_refused_total")).toBe(answers.length + further)
    expect(await batchGauge("http_expected_wait_seconds")).toBeGreaterThan(0)
    expect(await batchGauge("http_queue_age_seconds")).toBeGreaterThan(0)
    return [...answers]
  })
  expect(refused.filter((answer) => !isOverloaded(answer))).toEqual([])
  const all = await Promise.all(requests)
  expect(all.filter(({ status }) => status === 200)).toHaveLength(requests.length - refused.length)
  expect((await lookUpMany(cached)).status).toBe(200)
})

it("writes that wait too long for the database get 503 and write nothing, while lookups and health checks are answered", async () => {
  const service = await serveDirectory(
    { POOL_SIZE: "2", STATEMENT_TIMEOUT_MS: "600000" },
    { maxWaitMs: 1000 },
  )
  const users = await Promise.all(Array.from({ length: 10 }, () => service.user()))
  await service.register(cached, users[0]!)
  const ids = freshIds(40)
  const register = (emoji_id: string, n: number) =>
    service.call("POST", "/user_interests", { token: users[n % users.length]!.token, body: { emoji_id } })
  const list = ({ token }: { readonly token: string }) => service.call("GET", "/user_interests", { token })
  await Promise.all(users.map(list))
  const requests: Array<Promise<Answer>> = []
  const discarded = await whileLocked(service, "lock table user_interest in share mode", async () => {
    requests.push(...ids.map(register))
    const answers = collect(requests)
    // Each of the two connections has at most eight statements.
    await expect.poll(() => answers.length).toBeGreaterThanOrEqual(ids.length - 16)
    // The lookup is not in the cache, so it needs a connection although both connections of the pool are busy.
    expect((await service.call("GET", `/emoji_id/${encodeURIComponent(cached)}`)).status).toBe(200)
    expect((await service.call("GET", "/ready")).body.checks).toMatchObject({ postgres: "ok", writes: "ok" })
    return [...answers]
  })
  expect(discarded.filter((answer) => !isOverloaded(answer))).toEqual([])
  const all = await Promise.all(requests)
  const written = all.flatMap(({ body, status }) => (status === 200 ? [body.emoji_id] : []))
  expect(written.length).toBe(ids.length - discarded.length)
  const stored = await service.sql`select canonical from user_interest`
  expect(stored.map((row) => row["canonical"]).sort()).toEqual(written.sort())
  const again = await Promise.all(ids.flatMap((id, n) => (isOverloaded(all[n]!) ? [register(id, n)] : [])))
  expect(again.map(({ status }) => status)).toEqual(again.map(() => 200))
})

it("a write whose body arrives seconds after its header is not late", async () => {
  const service = await serve({}, { maxWaitMs: 2000 })
  const { token } = await service.user()
  const body = JSON.stringify({ first_name: "Ada" })
  const socket = await openSocket(Number(new URL(service.url).port))
  let received = ""
  socket.on("data", (chunk) => {
    received += chunk
  })
  socket.write(
    `PATCH /account HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  // The answer to another request shows that the server has received the first part.
  expect((await service.call("GET", "/health")).status).toBe(200)
  expect(received).toBe("")
  // The clock is put forward, so the test does not have to wait. It stays ahead, because it must not go back.
  const now = performance.now.bind(performance)
  vi.spyOn(performance, "now").mockImplementation(() => now() + 2500)
  socket.write(body.slice(5))
  await expect.poll(() => received).not.toBe("")
  expect(received).toMatch(/^HTTP\/1.1 200 .*"first_name":"Ada"/s)
  socket.destroy()
})
