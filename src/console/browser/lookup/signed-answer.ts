import { ApiError } from "../../../client/api-error.ts"
import type { LiveLookupResult } from "../../../client/api-types.ts"
import type { ProofFault, ProofRefused, Verified } from "../../../client/proofs/verify.ts"
import { call } from "../platform/api.ts"
import { PageError } from "../platform/http.ts"
import { client } from "../platform/session.ts"
import type { LookupRecord } from "./address.ts"

/** The proof of a shown answer, which the browser has checked. */
export interface CheckedProof {
  readonly jws: string
  readonly facts: Verified
}

/** The signed answer is valid, but it is not what the page shows. */
class OtherAnswer extends Error {
  override readonly name = "OtherAnswer"
}

/** The code of an answer that must not be trusted. The class of the error is in a file that is loaded later. */
export const refusalOf = (error: unknown): ProofFault | "other_answer" | undefined => {
  if (error instanceof OtherAnswer) return "other_answer"
  return error instanceof Error && error.name === "ProofRefused" ? (error as ProofRefused).code : undefined
}

/** Whether the error can be due to a process of the service that is a moment behind another one. */
export const mayBeLate = (error: unknown): boolean => {
  const code = refusalOf(error)
  return code === "old_version" || code === "other_answer"
}

const inOneOrder = (records: ReadonlyArray<LookupRecord>): string =>
  JSON.stringify(records.map(({ data, hash, tag }) => [tag, data, hash].join(" ")).toSorted())

const ask = async (id: string) => {
  try {
    return await call("GET /emoji_id/{emoji_id}", { params: { emoji_id: id }, query: { proof: true } })
  } catch (error) {
    // An id that is not registered has a proof too.
    if (error instanceof ApiError && error.status === 404) return error
    throw error
  }
}

/**
 * Reads the signed answer about an id, checks its proof, and compares it with the result that the page shows. Throws
 * an error with a code (see `refusalOf`) if the result must not be trusted.
 */
export const readProof = async (id: string, shown: LiveLookupResult): Promise<CheckedProof> => {
  if (crypto.subtle === undefined)
    throw new PageError("This page was opened without HTTPS, and browsers check signatures only with it.")
  const answer = await ask(id)
  const facts = await client.verify(answer, { atLeast: shown.status ? shown.version : 0 })
  const { proof = "", result = [] } = answer instanceof ApiError ? Object(answer.body) : answer
  if (facts.registered !== shown.status || inOneOrder(result) !== inOneOrder(shown.result))
    throw new OtherAnswer("The records that the page got first are not the signed ones.")
  return { jws: proof, facts }
}
