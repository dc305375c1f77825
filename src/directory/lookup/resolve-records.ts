import { Result } from "effect"
import type { LookupResponse } from "../../../schema/directory/lookup.ts"
import { toCandidates } from "../../../schema/directory/resolve/candidate.ts"
import { ResolveRefused, resolve } from "../../../schema/directory/resolve/resolve.ts"
import {
  isRecentChange,
  maxNetworkUnits,
  type ResolveResponse,
  type ResolveWarning,
  warningsOf,
} from "../../../schema/directory/resolve/response.ts"
import { parseQueryText } from "../../http/request/decode.ts"
import { maxQueryUnits } from "./select-records.ts"

export interface Refusal {
  readonly refused: ResolveRefused
  readonly warnings: ReadonlyArray<ResolveWarning>
  readonly version: number
}

/** Makes a function that resolves assets of one id. The records are parsed once for all calls. */
export const makeResolve = ({ owner_changed_at, result, version }: LookupResponse, nowMs: number) => {
  const candidates = toCandidates(result)
  return (asset: string, network: string | null | undefined): ResolveResponse | Refusal => {
    const outcome = resolve(candidates, asset, network ?? undefined)
    const warnings = warningsOf(outcome, owner_changed_at, nowMs)
    if (outcome instanceof ResolveRefused) return { refused: outcome, warnings, version }
    const { otherNetworks: _, ...found } = outcome
    return { status: true, ...found, warnings, error: null, version }
  }
}

/**
 * Returns the response of the resolve route for a raw query string. Undefined if the handler must answer: for every
 * error, and while the response has a warning that ends with time, because the result is cached.
 */
export const resolveByQuery = (
  whole: LookupResponse,
  query: string,
  nowMs: number,
): ResolveResponse | undefined => {
  if (query.length > maxQueryUnits || isRecentChange(whole.owner_changed_at, nowMs)) return undefined
  const parameters = parseQueryText(query)
  if (!Result.isSuccess(parameters)) return undefined
  const { asset, network = "" } = parameters.success
  if (asset === undefined || network.length > maxNetworkUnits) return undefined
  const answer = makeResolve(whole, nowMs)(asset, network)
  return "refused" in answer ? undefined : answer
}
