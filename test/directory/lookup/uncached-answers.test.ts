import { describe, expect, it } from "vitest"
import { Unavailable } from "../../../schema/errors.ts"
import { type LookupAnswer, notRegistered } from "../../../src/directory/lookup/answer.ts"
import { makeUncachedAnswers } from "../../../src/directory/lookup/uncached-answers.ts"
import { beginDirect } from "../../../src/http/direct.ts"
import type { RawRequest, RawResponse } from "../../../src/http/endpoint.ts"

const id = "🚀🌊"
const found: LookupAnswer = { own: '\r\nETag: W/"1-2-2"', body: '{"status":true}' }

const requestOf = (parts: Partial<RawRequest> = {}): RawRequest => ({
  id: "request",
  method: "GET",
  path: "/emoji_id/x",
  params: [id],
  query: "",
  headers: { "if-none-match": "" },
  address: "127.0.0.1",
  body: new Uint8Array(),
  arrivedAt: 0,
  ...parts,
})

/** Begins a lookup of an id that is not cached. `answer` completes its read. */
const begin = (parts: Partial<RawRequest> = {}, { isCached = false, mayRead = true } = {}) => {
  const reads: Array<(outcome: LookupAnswer | Unavailable) => void> = []
  const viewed: Array<string> = []
  const responses: Array<RawResponse> = []
  const direct = makeUncachedAnswers({
    isCached: () => isCached,
    load: (_, done) => void reads.push(done),
    countView: (canonical) => void viewed.push(canonical),
  })(() => mayRead)
  const cancel = beginDirect(direct, requestOf(parts), {
    respond: (response) => void responses.push(response),
    refuse: (problem) => ({ status: problem.kind.status }),
    defect: () => ({ status: 500 }),
  })
  return {
    cancel,
    reads,
    viewed,
    responses,
    answer: (outcome: LookupAnswer | Unavailable) => reads[0]?.(outcome),
  }
}

describe("a lookup of an id that is not cached", () => {
  it("is answered when the id is read, and counts one view", () => {
    const { answer, responses, viewed } = begin()
    answer(found)
    expect(viewed).toEqual([id])
    expect(responses).toEqual([
      {
        status: 200,
        headers: { ETag: 'W/"1-2-2"', "Content-Type": "application/json", "Cache-Control": "no-cache" },
        body: found.body,
      },
    ])
  })

  it("is answered 304 if the client has this version, and 404 if the id is not registered", () => {
    const held = begin({ headers: { "if-none-match": 'W/"1-2-2"' } })
    held.answer(found)
    expect(held.responses).toMatchObject([{ status: 304, body: "" }])
    const unknown = begin()
    unknown.answer(notRegistered)
    expect(unknown.responses).toMatchObject([
      { status: 404, headers: { "X-Error-Code": "not_found" }, body: notRegistered.body },
    ])
  })

  it("fails with 503 if the id cannot be read, and counts no view", () => {
    const { answer, responses, viewed } = begin()
    answer(new Unavailable({ error: "Retry later.", retryAfterSeconds: 1 }))
    expect(responses).toEqual([{ status: 503 }])
    expect(viewed).toEqual([])
  })

  it("is not answered or counted after its client has disconnected", () => {
    const { answer, cancel, responses, viewed } = begin()
    expect(cancel?.()).toBe(true)
    answer(found)
    expect(responses).toEqual([])
    expect(viewed).toEqual([])
  })

  it.each([
    ["a query string", { query: "tags=0x1003" }, {}],
    ["an invalid id", { params: ["x"] }, {}],
    ["an address without lookups left", {}, { mayRead: false }],
    ["an answer that was cached in the meantime", {}, { isCached: true }],
  ])("is left to the handler with %s", (_case, parts, ports) => {
    const { cancel, reads, responses } = begin(parts, ports)
    expect(cancel).toBeUndefined()
    expect(reads).toEqual([])
    expect(responses).toEqual([])
  })

  it("is answered 500 if an error is thrown", () => {
    const responses: Array<RawResponse> = []
    const direct = () => {
      throw new Error("defect")
    }
    const cancel = beginDirect(direct, requestOf(), {
      respond: (response) => void responses.push(response),
      refuse: () => ({ status: 503 }),
      defect: () => ({ status: 500 }),
    })
    expect(cancel?.()).toBe(true)
    expect(responses).toEqual([{ status: 500 }])
  })
})
