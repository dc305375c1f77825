import { beforeAll, expect, it } from "vitest"
import { ApiError } from "../../src/client/api-error.ts"
import { createClient } from "../../src/client/client.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

it.each([".", "..", "", "\ud83d"])(
  "an id that is typed as %j is refused, and no other path is asked for",
  async (typed) => {
    const client = createClient({ baseUrl: service.url })
    const params = { emoji_id: typed }
    const refused = { status: 400, code: "invalid_request" }
    await expect(client.call("GET /emoji_id/:emoji_id", { params })).rejects.toMatchObject(refused)
    await expect(
      client.call("GET /emoji_id/:emoji_id/:tag", { params: { ...params, tag: "BTC" } }),
    ).rejects.toBeInstanceOf(ApiError)
  },
)
