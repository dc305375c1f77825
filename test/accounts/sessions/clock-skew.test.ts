import { randomUUID } from "node:crypto"
import { afterEach, describe, expect, it, vi } from "vitest"
import { closeCodes } from "../../../schema/live-frames.ts"
import { Tokens } from "../../../src/accounts/sessions/tokens.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve, type TestService } from "../../fixtures/service.ts"

const hourMs = 3_600_000
const setClockOff = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms })

/** One process may sign a token and another process may verify it. All processes use the database's clock. */
describe("a process whose clock is wrong by one hour", () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const sign = (service: TestService, sub: string, ttlSeconds: number) =>
    service.runtime.runPromise(
      Tokens.use((tokens) =>
        tokens.sign({ sub, sid: randomUUID(), ep: 0, role: "User" }, { kind: "access", ttlSeconds }),
      ),
    )

  it("accepts valid tokens, and signs tokens that expire at the right time", async () => {
    const service = await serve()
    const { id, token } = await service.user()
    const now = Date.now()
    setClockOff(hourMs)
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
    const own = await sign(service, id, 900)
    const { exp } = JSON.parse(Buffer.from(own.split(".")[1] ?? "", "base64url").toString())
    expect(Math.abs(exp * 1000 - now - 900_000)).toBeLessThan(60_000)
  })

  it("closes a WebSocket connection when its token expires", async () => {
    setClockOff(-hourMs)
    const service = await serve()
    const token = await sign(service, (await service.user()).id, 6)
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token })
    await client.take({ type: "connected" })
    expect(await client.closing).toMatchObject({ code: closeCodes.tokenExpired })
  })
})
