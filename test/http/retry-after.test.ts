import { describe, expect, it } from "vitest"
import {
  BodyTooLarge,
  Conflict,
  EventRefused,
  Forbidden,
  fieldFault,
  InvalidRequest,
  NotFound,
  type Problem,
  retryAfter,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized,
  Unavailable,
} from "../../schema/errors.ts"
import { problemResponse, refusalResponse } from "../../src/http/response/problem.ts"
import { unreached } from "../../src/postgres/sql-failures.ts"
import { toProblem } from "../../src/transfers/refusals.ts"
import { serve } from "../fixtures/service.ts"

const headerOf = (problem: Problem) => problemResponse(problem, "r").headers?.["Retry-After"]
const transfer = { expiresAt: "2026-01-01T00:00:00Z" } as never

describe("Retry-After is sent with", () => {
  it.each<readonly [string, Problem, string]>([
    ["a rate limit, until its window ends", new TooManyRequests({ retryAfterSeconds: 17 }), "17"],
    ["a mail that was sent just now", toProblem({ reason: "resend_too_early", waitMs: 2500 }, transfer), "3"],
    ["a dependency that is not reachable", unreached, "1"],
    ["a full queue", new Unavailable({ retryAfterSeconds: 0.2 }), "1"],
    ["an Idempotency-Key whose first request is running", new Conflict({ retryAfterSeconds: 1 }), "1"],
  ])("%s", (_name, problem, seconds) => {
    expect(headerOf(problem)).toBe(seconds)
  })

  it("a request that reached its deadline", () => {
    expect(refusalResponse("deadline", "r").headers?.["Retry-After"]).toBe("1")
  })
})

describe("Retry-After is not sent with", () => {
  it.each<readonly [string, Problem]>([
    ["a code that cannot be sent again", toProblem({ reason: "too_many_resends" }, transfer)],
    ["a feature that is not configured", new Unavailable({ retryAfterSeconds: "never" })],
    ["a state that refuses the event", new EventRefused({})],
    ["a conflict with the state of a resource", new Conflict({})],
    ["a body that is too large", new BodyTooLarge({})],
    ["a two-factor code that is too old", new TwoFactorRequired({})],
    ["an invalid request", new InvalidRequest({})],
    ["missing credentials", new Unauthorized({})],
    ["a missing scope", new Forbidden({})],
    ["an absent resource", new NotFound({})],
    ["an invalid field", fieldFault("email", "uniqueness", "is registered")],
  ])("%s", (_name, problem) => {
    expect(headerOf(problem)).toBeUndefined()
  })

  it("a status other than 409, 429 and 503, whatever its error says", () => {
    for (const problem of [
      new NotFound({ retryAfterSeconds: 5 }),
      new TwoFactorRequired({ retryAfterSeconds: 5 }),
    ])
      expect(retryAfter(problem)).toBeUndefined()
  })

  it("too many requests for paths that do not exist", () => {
    expect(refusalResponse("too_many_unknown", "r")).toMatchObject({ status: 429 })
    expect(refusalResponse("too_many_unknown", "r").headers?.["Retry-After"]).toBeUndefined()
  })
})

describe("over HTTP", () => {
  it("a refusal by the state and a body that is too large have no Retry-After", async () => {
    const service = await serve()
    const { token } = await service.user()
    await service.call("POST", "/cart", { token, body: { items: [{ emoji_id: "🚀🌊🔥" }] } })
    const refused = await service.call("POST", "/cart/convert_to_draft", { token })
    const large = await service.call("POST", "/cart", { token, rawBody: "x".repeat(1_000_000) })
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([409, null])
    expect([large.status, large.headers.get("retry-after")]).toEqual([413, null])
  })
})
