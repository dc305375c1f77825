import { randomUUID } from "node:crypto"
import { expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"

const origin = "https://shop.example"

it("with a list of ALLOWED_ORIGINS, scripts of these origins can read that a response was replayed", async () => {
  const service = await serve({ ALLOWED_ORIGINS: origin })
  const { token } = await service.user()
  const send = () =>
    service.call("POST", "/api_keys", {
      token,
      body: { name: "one" },
      headers: { origin, "idempotency-key": key },
    })
  const key = randomUUID()
  await send()
  const { headers } = await send()
  expect(headers.get("idempotent-replayed")).toBe("true")
  expect(headers.get("access-control-allow-origin")).toBe(origin)
  const exposed = (headers.get("access-control-expose-headers") ?? "").toLowerCase().split(", ")
  // The response headers of the API that are not among those that browsers always let scripts read.
  expect(exposed).toEqual(
    expect.arrayContaining([
      "idempotent-replayed",
      "x-request-id",
      "retry-after",
      "ratelimit-limit",
      "ratelimit-remaining",
      "ratelimit-reset",
      "etag",
      "location",
      "allow",
      "www-authenticate",
    ]),
  )
})
