import { describe, expect, it, vi } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"
import { freshId } from "../../orders/shopper.ts"
import { grant } from "../../transfers/transfer-service.ts"

const coldLookups = 20
const limited = () => serve({ RATE_LIMIT: "on", COLD_LOOKUPS_PER_MINUTE: String(coldLookups) })
type Service = Awaited<ReturnType<typeof limited>>

const lookUp = (service: Service, id: string, headers: Record<string, string> = {}) =>
  service.call("GET", `/emoji_id/${encodeURIComponent(id)}`, { headers })
const useUp = async (service: Service) => {
  for (let i = 0; i < coldLookups; i++) expect((await lookUp(service, freshId())).status).toBe(404)
}

describe("lookups of ids that are not in the cache", () => {
  it("are limited per address; lookups of cached ids, also of unregistered ones, are not", async () => {
    const service = await limited()
    const owner = await service.user()
    const [registered, unregistered] = [freshId(), freshId()]
    await grant(service, owner, registered)
    expect((await lookUp(service, registered)).status).toBe(200)
    expect((await lookUp(service, unregistered)).status).toBe(404)
    for (let i = 2; i < coldLookups; i++) await lookUp(service, freshId())
    const refused = await lookUp(service, freshId())
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect((await lookUp(service, registered)).status).toBe(200)
    expect((await lookUp(service, unregistered)).status).toBe(404)
  })

  it.each([
    ["a payment lookup", (id: string) => `/emoji_id/${id}/payment`],
    ["a lookup of one ticker", (id: string) => `/emoji_id/${id}/BTC`],
    ["a confirmation", (id: string) => `/emoji_id/${id}/confirm?tag=BTC&data=x`],
    ["a send-ready answer", (id: string) => `/emoji_id/${id}/resolve?asset=BTC`],
    ["a history", (id: string) => `/emoji_id/${id}/history`],
    ["the page of an id", (id: string) => `/?emoji_id=${id}`],
  ])("are limited in the form of %s too", async (_form, pathOf) => {
    const service = await limited()
    await useUp(service)
    const { status } = await service.call("GET", pathOf(encodeURIComponent(freshId())))
    expect(status).toBe(429)
  })

  it("are counted one by one in a list of ids", async () => {
    const service = await limited()
    const lookUpMany = (count: number) =>
      service.call("POST", "/emoji_id/lookup", {
        body: { emoji_ids: Array.from({ length: count }, freshId) },
      })
    expect((await lookUpMany(coldLookups)).status).toBe(200)
    expect((await lookUpMany(1)).status).toBe(429)
  })

  it("are limited per key for a caller with a valid API key, whatever the address has used up", async () => {
    const service = await limited()
    const { token } = await service.user()
    const keys = await Promise.all(
      ["one", "two"].map(async (name) => {
        const made = await service.call("POST", "/api_keys", { token, body: { name } })
        return { "x-api-key": made.body.api_key as string }
      }),
    )
    await useUp(service)
    for (let i = 0; i < 2 * coldLookups; i++)
      expect((await lookUp(service, freshId(), keys[0])).status).toBe(404)
    expect((await lookUp(service, freshId(), keys[0])).status).toBe(429)
    expect((await lookUp(service, freshId(), keys[1])).status).toBe(404)
  })

  it("stay limited by the address for a caller with an invalid API key", async () => {
    const service = await limited()
    await useUp(service)
    expect((await lookUp(service, freshId(), { "x-api-key": "svc_abcdefgh_abcdefgh" })).status).toBe(429)
  })
})

describe("requests for unknown paths", () => {
  it("get 429 after 1200 within a minute from one address, while known paths are answered", async () => {
    const service = await limited()
    const paths = Array.from({ length: 1200 }, (_, n) => `/unknown/${n}`)
    for (let from = 0; from < paths.length; from += 50) {
      const answers = await Promise.all(paths.slice(from, from + 50).map((path) => service.call("GET", path)))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    }
    const refused = await service.call("GET", "/unknown", { headers: { accept: "text/html" } })
    expect(refused.status).toBe(429)
    expect(refused.body.code).toBe("too_many_requests")
    // Such a path is a 404 later too, so a retry cannot help.
    expect(refused.headers.get("retry-after")).toBeNull()
    expect((await service.call("GET", "/health")).status).toBe(200)
  })
})

describe("a service with TRUST_PROXY=off", () => {
  it("logs once how to trust the proxy when a request has X-Forwarded-For", async () => {
    const lines: Array<string> = []
    const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line))
    cleanUp(async () => log.mockRestore())
    const service = await serve({ LOG_LEVEL: "Warn" })
    await service.call("GET", "/unknown")
    expect(lines).toEqual([])
    for (let i = 0; i < 3; i++)
      await service.call("GET", "/unknown", { headers: { "x-forwarded-for": "203.0.113.7" } })
    await expect.poll(() => lines).toHaveLength(1)
    expect(lines[0]).toContain("set TRUST_PROXY=on")
  })
})
