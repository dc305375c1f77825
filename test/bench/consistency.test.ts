import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { auditedDeliveries } from "../../bench/consistency/deliveries.ts"
import { auditedEdits } from "../../bench/consistency/edits.ts"
import { auditedLookups } from "../../bench/consistency/reads.ts"
import type { HttpTraffic } from "../../bench/load/http-lane.ts"
import { runHttpLoad } from "../../bench/load/http-load.ts"
import { buildRequest, type Target } from "../../bench/load/request.ts"
import { inTime } from "../fixtures/suite/patience.ts"

const plan = { connections: 4, warmupSeconds: 0, durationSeconds: 0.2, timeoutSeconds: 30 }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<Target> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { side: "service", host: "127.0.0.1", port, tls: false, basePath: "" }
}

const answer = (version: unknown, data: string): string =>
  JSON.stringify({ status: true, result: [{ tag: "0x0002", data }], version })

/** Repeats the load with longer and longer durations until answers were checked. */
const auditOf = (target: Target, traffic: HttpTraffic) =>
  inTime(plan.durationSeconds, async (durationSeconds) => {
    const { audit } = await runHttpLoad(target, traffic, { ...plan, durationSeconds }, undefined)
    return audit !== undefined && audit.checked > 0 ? audit : undefined
  })

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

/** A server of records that keeps an edit only if `keeps` returns true. */
const records = (keeps: () => boolean): RequestListener => {
  const stored = new Map<string, { readonly version: number; readonly text: string }>()
  return async (request, response) => {
    const text = await textOf(request)
    const { url = "" } = request
    const known = stored.get(url) ?? { version: 0, text: "" }
    if (request.method === "PATCH" && keeps())
      stored.set(url, { version: known.version + 1, text: String(JSON.parse(text)) })
    response.end(answer(known.version, known.text))
  }
}

const edits = (target: Target) =>
  auditedEdits({
    owners: 4,
    edit: (owner, text) =>
      buildRequest(target, { method: "PATCH", path: `/${owner}`, body: JSON.stringify(text) }),
    lookup: (owner) => buildRequest(target, { path: `/${owner}` }),
  })

describe("the consistency check of a load", () => {
  it("finds nothing wrong with a server that keeps its edits", async () => {
    const target = await serve(records(() => true))
    expect((await auditOf(target, edits(target))).wrong).toEqual([])
  })

  it("finds a server that confirms an edit and loses it", async () => {
    const target = await serve(records(() => false))
    const { wrong } = await auditOf(target, edits(target))
    expect(wrong[0]).toMatch(/^read your own write: after "Edit number \d+", the lookup of id \d returned/)
  })

  it("finds a server whose versions go back", async () => {
    let version = 1_000_000
    const target = await serve((_, response) => response.end(answer(version--, "kept")))
    const traffic = auditedLookups({ requests: [buildRequest(target, { path: "/0" })], data: "kept" })
    const { wrong } = await inTime(plan.durationSeconds, async (durationSeconds) => {
      const { audit } = await runHttpLoad(target, traffic, { ...plan, durationSeconds }, undefined)
      return audit !== undefined && audit.wrong.length > 0 ? audit : undefined
    })
    expect(wrong[0]).toMatch(/^monotonic version: lookup of id 0 returned version \d+ after \d+$/)
  })

  it("finds a live event that is missing or repeated", () => {
    const { auditor, inspect } = auditedDeliveries()
    for (const offset of [7, 8, 10, 10]) inspect(0, Buffer.from(`{"type":"event","offset":${offset}}`))
    expect(auditor.take()).toEqual({
      checked: 4,
      wrong: [
        "order of events: socket 0 received offset 10 after 8",
        "order of events: socket 0 received offset 10 after 10",
      ],
    })
  })
})
