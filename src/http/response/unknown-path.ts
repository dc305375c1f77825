import { randomUUID } from "node:crypto"
import type { ErrorBody, RawResponse } from "../endpoint.ts"
import { headerLines } from "./header-lines.ts"

export interface MadeResponse {
  readonly response: RawResponse
  readonly lines: string
}

/**
 * Makes the 404 response for unknown paths once as JSON and once as a page. For each request, only the request id is
 * inserted.
 */
export const makeUnknownPath = (
  make: (requestId: string, shape: ErrorBody | undefined) => RawResponse,
): ((requestId: string, shape: ErrorBody | undefined) => MadeResponse) => {
  const mark = randomUUID()
  const template = (shape: ErrorBody | undefined) => {
    const response = make(mark, shape)
    const parts = Buffer.from(response.body ?? "")
      .toString()
      .split(mark)
    const lines = headerLines(response)
    return (requestId: string) => ({ response: { ...response, body: parts.join(requestId) }, lines })
  }
  const json = template(undefined)
  const page = template("page")
  return (requestId, shape) => (shape === "page" ? page : json)(requestId)
}
