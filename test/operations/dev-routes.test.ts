import { describe, expect, it } from "vitest"
import { exchange } from "../fixtures/raw-http.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve({ BASE_URL: "https://dev.example:8443" })
const port = Number(new URL(service.url).port)

const ask = async (headers: Record<string, string>): Promise<string> => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return exchange(port, `GET /dev/outbox?to=a@example.com HTTP/1.1\r\n${lines.join("")}\r\n`)
}
const statusOf = (answer: string) => Number(answer.split(" ")[1])

describe("the development outbox", () => {
  it.each([
    "localhost",
    `localhost:${port}`,
    `LOCALHOST:${port}`,
    `127.0.0.1:${port}`,
    `[::1]:${port}`,
    "dev.example",
    "dev.example:8443",
  ])("answers a request with the Host header %s", async (Host) => {
    expect(statusOf(await ask({ Host }))).toBe(200)
  })

  it.each([
    "evil.example",
    `evil.example:${port}`,
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example@localhost",
    "192.168.1.5",
  ])("rejects a request with the Host header %s, which may be a DNS rebinding attack", async (Host) => {
    const answer = await ask({ Host })
    expect(statusOf(answer)).toBe(403)
    expect(answer).toContain("Developer routes answer only for localhost and the host of BASE_URL")
  })

  it.each([`http://localhost:${port}`, "https://dev.example:8443"])(
    "answers a request from a page of the service's own origin %s",
    async (Origin) => {
      const answer = await ask({ Host: `localhost:${port}`, Origin, "Sec-Fetch-Site": "same-origin" })
      expect(statusOf(answer)).toBe(200)
    },
  )

  it.each(["http://evil.example", "http://localhost:8080", "null"])(
    "rejects a request from a page of the origin %s",
    async (Origin) => {
      expect(statusOf(await ask({ Host: `localhost:${port}`, Origin }))).toBe(403)
    },
  )

  it.each(["cross-site", "same-site"])("rejects a request with Sec-Fetch-Site: %s", async (site) => {
    expect(statusOf(await ask({ Host: `localhost:${port}`, "Sec-Fetch-Site": site }))).toBe(403)
  })

  it("accepts requests from another machine only if the service runs with DEMO_PASSWORDS=published", async () => {
    const headers = { "X-Forwarded-For": "203.0.113.9" }
    const behindProxy = await serve({ TRUST_PROXY: "on" })
    const refused = await behindProxy.call("GET", "/dev/outbox?to=a@example.com", { headers })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain("only callers on this machine")
    const published = await serve({ TRUST_PROXY: "on", DEMO_PASSWORDS: "published" })
    expect((await published.call("GET", "/dev/outbox?to=a@example.com", { headers })).status).toBe(200)
  })

  it("sends no CORS headers, not even in the response to a preflight request", async () => {
    const answer = await ask({ Host: `localhost:${port}` })
    expect(answer.toLowerCase()).not.toContain("access-control-allow-origin")
    const asked = await service.call("OPTIONS", "/dev/outbox", { headers: { origin: "http://evil.example" } })
    expect(asked.headers.get("access-control-allow-origin")).toBeNull()
    expect(asked.headers.get("access-control-allow-methods")).toBeNull()
  })
})
