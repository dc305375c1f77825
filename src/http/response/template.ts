import { randomUUID } from "node:crypto"
import type { RawResponse } from "../endpoint.ts"
import { headerLines } from "./header-lines.ts"

export interface MadeResponse {
  readonly response: RawResponse
  readonly lines: string
}

/** Makes a response once. For each request, only the request id is inserted. */
export const makeTemplate = (make: (requestId: string) => RawResponse) => {
  const mark = randomUUID()
  const response = make(mark)
  const parts = Buffer.from(response.body ?? "")
    .toString()
    .split(mark)
  const lines = headerLines(response)
  return (requestId: string): MadeResponse => ({
    response: { ...response, body: parts.join(requestId) },
    lines,
  })
}
