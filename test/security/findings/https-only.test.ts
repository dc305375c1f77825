import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"

const header = "strict-transport-security"

describe("a service whose BASE_URL is https", () => {
  it.each(["/health", "/", "/unknown", "/console/vocabulary", "/authorize"])(
    "tells browsers to use only HTTPS: GET %s",
    async (path) => {
      const service = await serve({ BASE_URL: "https://directory.example" })
      const { headers } = await service.call("GET", path)
      expect(headers.get(header)).toBe("max-age=31536000")
    },
  )

  it("tells so with precomputed responses and with responses that other origins cannot read too", async () => {
    const service = await serve({
      BASE_URL: "https://directory.example",
      ALLOWED_ORIGINS: "https://a.example",
    })
    const path = `/emoji_id/${encodeURIComponent(freshId())}`
    await service.call("GET", path)
    expect((await service.call("GET", path)).headers.get(header)).toBe("max-age=31536000")
    expect((await service.call("POST", "/console/session")).headers.get(header)).toBe("max-age=31536000")
  })
})

it("a service whose BASE_URL is http does not mention HTTPS", async () => {
  const service = await serve({ BASE_URL: "http://directory.example" })
  expect((await service.call("GET", "/health")).headers.get(header)).toBeNull()
})
