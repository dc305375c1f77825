import { converse, type Talk } from "../load/conversation.ts"
import type { HttpTraffic } from "../load/http-lane.ts"
import { Auditor } from "./auditor.ts"
import { hasRecord } from "./reads.ts"

/** After this many edits, a connection looks up its id once. So the lookups hardly change the measured rate. */
const editsPerLookup = 100
/** The first lookup comes early, so that a short run also checks each connection. */
const firstLookupAfter = 3

export interface Edited {
  readonly edit: (owner: number, text: string) => Buffer
  readonly lookup: (owner: number) => Buffer
  /** The number of ids. Connections with the same remainder edit the same id. */
  readonly owners: number
}

/**
 * Returns traffic in which each connection edits its own id, and now and then reads it. The read must return the last
 * edit, and a higher version than the read before. The edits of an id with several connections are not checked.
 */
export function auditedEdits({ edit, lookup, owners }: Edited): HttpTraffic {
  const auditor = new Auditor()
  const connections = new Set<number>()
  const versions = new Map<number, number>()
  let edits = 0

  const audit = (owner: number, text: string, body: string) => {
    const { result, version } = JSON.parse(body) as { readonly result: unknown; readonly version: number }
    auditor.expect(
      hasRecord(result, text),
      () => `read your own write: after "${text}", the lookup of id ${owner} returned ${body.slice(0, 300)}`,
    )
    const before = versions.get(owner) ?? 0
    auditor.expect(
      version > before,
      () => `monotonic version: after an edit of version ${before}, id ${owner} had version ${version}`,
    )
    versions.set(owner, version)
  }

  const traffic = converse(function* (connection): Talk {
    const owner = connection % owners
    connections.add(connection)
    for (let done = 1; ; done++) {
      const text = `Edit number ${edits++}`
      yield { request: edit(owner, text), status: 200 }
      if (done % editsPerLookup !== firstLookupAfter) continue
      const { body } = yield { request: lookup(owner), status: 200 }
      // A connection beyond the number of owners shares its id with another connection.
      if (connections.size <= owners) audit(owner, text, body.toString())
    }
  })
  return { ...traffic, auditor }
}
