import type { Check, HttpTraffic } from "../load/http-lane.ts"
import { Auditor } from "./auditor.ts"

/** The answers for one of this many ids are checked. Checking all of them would use the CPU time of the generator. */
const idsPerChecked = 64

interface Lookup {
  readonly version?: unknown
  readonly result?: unknown
}

/** The audit of one request that is in flight. */
interface Asked {
  readonly n: number
  /** The version that a client already knew when it sent the request. */
  readonly known: number
}

export interface AuditedLookups {
  readonly requests: readonly Buffer[]
  /** A record that every one of the ids has. Undefined if the ids need not have records. */
  readonly data?: string
  readonly statuses?: readonly number[] | undefined
  readonly check?: Check
}

/**
 * Returns traffic that sends one of the requests at random. For some of the ids, every answer is checked: it has the
 * stored record, and its version is not lower than one that was received before the request was sent.
 */
export function auditedLookups({ check, data, requests, statuses }: AuditedLookups): HttpTraffic {
  const auditor = new Auditor()
  const versions = new Map<number, number>()
  const inFlight: (Asked | undefined)[] = []
  const { length } = requests

  const audit = (asked: Asked, body: Buffer) => {
    const { result, version } = parse(body)
    const isRight = typeof version === "number" && (data === undefined || hasRecord(result, data))
    auditor.expect(isRight, () => `lookup of id ${asked.n} returned ${body.toString().slice(0, 300)}`)
    if (typeof version !== "number") return
    auditor.expect(
      version >= asked.known,
      () => `monotonic version: lookup of id ${asked.n} returned version ${version} after ${asked.known}`,
    )
    versions.set(asked.n, Math.max(version, versions.get(asked.n) ?? 0))
  }

  return {
    auditor,
    source: (connection) => {
      const n = (Math.random() * length) | 0
      inFlight[connection] = n % idsPerChecked === 0 ? { n, known: versions.get(n) ?? 0 } : undefined
      return requests[n]!
    },
    statuses,
    check: (answer, connection) => {
      const asked = inFlight[connection]
      if (asked !== undefined && answer.status === 200) audit(asked, answer.body)
      return check === undefined || check(answer, connection)
    },
  }
}

const parse = (body: Buffer): Lookup => {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

export const hasRecord = (result: unknown, data: string): boolean =>
  Array.isArray(result) && result.some((record: { readonly data?: unknown } | null) => record?.data === data)
