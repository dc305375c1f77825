import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, describe, expect, it } from "vitest"
import { expectAnswer } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

const seen: Array<{ url: string; headers: IncomingMessage["headers"]; body: string }> = []
/** A scraper for the tests. The data of the request selects how it responds. */
const upstream = createServer(async (request, response) => {
  let body = ""
  for await (const chunk of request) body += chunk
  seen.push({ url: request.url ?? "", headers: request.headers, body })
  const { data } = JSON.parse(body) as { data: string }
  if (data === "redirect") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()
  else if (data === "huge") response.end("x".repeat(300_000))
  else if (data === "refused") response.writeHead(422).end("secret reason")
  else if (data === "broken") response.writeHead(500).end("secret stack")
  else if (data === "text") response.end("just text")
  else response.end(JSON.stringify({ title: `about ${data}` }))
})
await new Promise<void>((ready) => upstream.listen(0, "127.0.0.1", ready))
afterAll(() => void upstream.close())

const service = await serve({
  SCRAPER_URL: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/scrape`,
})
const { token } = await service.user()
const call = (body: unknown) => service.call("POST", "/proxy", { token, body })

describe("POST /proxy", () => {
  it("with the service `Echo` returns the data as text, and also parsed if the data is a JSON object", async () => {
    const { body } = await call({ service: "Echo", data: '{"a":1}' })
    expectAnswer("POST", "/proxy", body)
    expect(body).toEqual({ json: { a: 1 }, value: '{"a":1}' })
    expect((await call({ service: "Echo", data: "hello" })).body).toEqual({ json: {}, value: "hello" })
    expect((await call({ service: "Echo" })).body).toEqual({ json: {}, value: "" })
    expect((await call({ service: "Echo", data: null })).body).toEqual({ json: {}, value: "" })
  })

  it("with the service `Echo` returns too deeply nested JSON only as text", async () => {
    const deep = `{"a":${"[".repeat(8000)}${"]".repeat(8000)}}`
    const { body, status } = await call({ service: "Echo", data: deep })
    expect(status).toBe(200)
    expect(body).toEqual({ json: {}, value: deep })
  })

  it("with the service `Scraper` calls only the configured URL and does not send the caller's token", async () => {
    const data = "http://169.254.169.254/latest"
    expect((await call({ service: "Scraper", data })).body.json).toEqual({ title: `about ${data}` })
    const { body, headers, url } = seen.at(-1)!
    expect(url).toBe("/scrape")
    expect(JSON.parse(body)).toEqual({ data })
    expect(headers.authorization).toBeUndefined()
    expect((await call({ service: "Scraper", data: "text" })).body).toEqual({ json: {}, value: "just text" })
  })

  it.each([
    ["redirect", "5"],
    ["broken", "5"],
    ["huge", null],
    ["refused", null],
  ])(
    "returns 503 without details if the scraper's response is `%s`, with Retry-After %s",
    async (data, retryAfter) => {
      const { body, headers, status } = await call({ service: "Scraper", data })
      expect([status, headers.get("retry-after")]).toEqual([503, retryAfter])
      expect(body.error).not.toContain("secret")
    },
  )

  it("requires authentication, a known service, and data of at most 16384 characters", async () => {
    expect((await call({ service: "http://example.com" })).status).toBe(400)
    expect((await call({ service: "__proto__" })).status).toBe(400)
    expect((await call({ service: "Echo", data: "x".repeat(16_385) })).status).toBe(400)
    expect((await service.call("POST", "/proxy", { body: { service: "Echo" } })).status).toBe(401)
  })

  it("with the service `Scraper` returns 503 without Retry-After if SCRAPER_URL is not set", async () => {
    const bare = await serve()
    const user = await bare.user()
    const { body, headers, status } = await bare.call("POST", "/proxy", {
      token: user.token,
      body: { service: "Scraper", data: "x" },
    })
    expect([status, headers.get("retry-after")]).toEqual([503, null])
    expect(body.error).toContain("SCRAPER_URL")
  })
})
