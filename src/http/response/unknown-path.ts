import type { ErrorBody, RawResponse } from "../endpoint.ts"
import { type MadeResponse, makeTemplate } from "./template.ts"

/** Makes the 404 response for unknown paths, once as JSON and once as a page. */
export const makeUnknownPath = (
  make: (requestId: string, shape: ErrorBody | undefined) => RawResponse,
): ((requestId: string, shape: ErrorBody | undefined) => MadeResponse) => {
  const json = makeTemplate((requestId) => make(requestId, undefined))
  const page = makeTemplate((requestId) => make(requestId, "page"))
  return (requestId, shape) => (shape === "page" ? page : json)(requestId)
}
