import { existsSync, writeFileSync } from "node:fs"
import { Result, Schema } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import * as problems from "../../schema/errors.ts"
import { liveEvents } from "../../schema/live-events.ts"
import { type Example, examplesFile, readExamples } from "../../src/docs-page/examples.ts"
import { routes } from "../../src/routes.ts"
import { keepUnchanged, recordExamples } from "./record.ts"
import { keepUnchangedEvents } from "./record-events.ts"

const published = routes.filter(({ internal }) => !internal)
const isWriting = process.env["WRITE_DOCS"] === "yes"

/** Whether the response has the declared form, without other members. */
const isValid = (id: string, { response }: Example): boolean => {
  const row = published.find((one) => one.id === id)
  if (row === undefined) return false
  const decode = Schema.decodeUnknownResult(Schema.toEncoded(row.success), { onExcessProperty: "error" })
  return Result.isSuccess(decode(response))
}

beforeAll(async () => {
  if (!isWriting) return
  // The service reads the file, because it serves the documents that contain the examples.
  if (!existsSync(examplesFile))
    writeFileSync(examplesFile, JSON.stringify({ operations: {}, errors: {}, events: {} }))
  const old = readExamples()
  const recorded = await recordExamples(routes)
  const kept = {
    operations: keepUnchanged(old.operations, recorded.operations, isValid),
    errors: keepUnchanged(old.errors, recorded.errors),
    events: keepUnchangedEvents(old.events, recorded.events),
  }
  writeFileSync(examplesFile, `${JSON.stringify(kept, null, 1)}\n`)
})

const codes = Object.values(problems).flatMap((value) =>
  typeof value === "function" && "kind" in value ? [(value as problems.ProblemClass).kind] : [],
)

describe("the examples of the API reference (update them with: npm run docs)", () => {
  it("exist for exactly the published operations", () => {
    const ids = published.map(({ id }) => id)
    expect(Object.keys(readExamples().operations).toSorted()).toEqual(ids.toSorted())
  })

  it.each(published.map((row) => [row.id, row] as const))(
    "of %s show a success, and have the declared forms of request and response",
    (id, row) => {
      const { body, response, status } = readExamples().operations[id]!
      const expected = id === "live" ? [101] : [row.status ?? 200, ...(row.redirects ?? [])]
      expect(expected).toContain(status)
      if (row.produces === undefined && response !== undefined && id !== "openapi" && id !== "asyncapi")
        Schema.asserts(Schema.toEncoded(row.success), response)
      if (body !== undefined && row.body !== undefined) Schema.asserts(Schema.toEncoded(row.body), body)
      expect(row.body === undefined || row.rawBody || body !== undefined).toBe(true)
    },
  )

  it("exist for events of the live protocol, and have the declared members and no others", () => {
    const { events } = readExamples()
    const data = liveEvents as Readonly<Record<string, { readonly data: Schema.Top }>>
    expect(Object.keys(events).filter((type) => data[type] === undefined)).toEqual([])
    for (const [type, example] of Object.entries(events)) {
      const declared = Schema.toEncoded(data[type]!.data) as Schema.Codec<unknown>
      const decode = Schema.decodeUnknownResult(declared, { onExcessProperty: "error" })
      expect([type, Result.isSuccess(decode(example.data))]).toEqual([type, true])
    }
  })

  it("exist for every error code, and show its status and its code", () => {
    const { errors } = readExamples()
    expect(Object.keys(errors).toSorted()).toEqual(codes.map(({ code }) => code).toSorted())
    for (const { code, status } of codes) {
      expect([code, errors[code]?.status]).toEqual([code, status])
      const { response } = errors[code]!
      expect(response).toMatchObject({ error: expect.any(String), code })
    }
  })
})
