import {
  BodyTooLarge,
  InvalidRequest,
  MethodNotAllowed,
  NotFound,
  type Problem,
  Unavailable,
} from "../../../schema/errors.ts"
import type { Refusal } from "../server.ts"
import type { Reply } from "./reply.ts"

/** Renders an error as a page. The web folder implements it; http does not depend on pages. */
export type ErrorPage = (facts: {
  readonly status: number
  readonly error: string
  readonly requestId: string
}) => Reply<never>

import type { ErrorBody, RawResponse } from "../endpoint.ts"

/** RFC 6749 has few words for what went wrong; what else may happen at the token endpoint is told in them. */
const oauthCode = (status: number): string => {
  if (status === 503 || status === 429) return "temporarily_unavailable"
  return status >= 500 ? "server_error" : "invalid_request"
}

/** The one place where a failure becomes a body. A defect tells the client nothing but the request's id. */
export const problemResponse = (
  problem: Problem | undefined,
  requestId: string,
  shape?: ErrorBody,
  errorPage?: ErrorPage,
): RawResponse => {
  const status = problem?.kind.status ?? 500
  const code = problem?.kind.code ?? "internal"
  const error = problem?.message ?? "Something went wrong on our side."
  const headers = {
    "Content-Type": "application/json",
    ...(status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
    ...problem?.headers,
    ...(status === 426 ? { Upgrade: "websocket" } : {}),
    ...(problem?.retryAfterSeconds === undefined ? {} : { "Retry-After": String(problem.retryAfterSeconds) }),
    "Cache-Control": shape === "oauth" ? "no-store" : "no-cache",
  }
  if (shape === "page" && errorPage !== undefined) {
    const page = errorPage({ status, error, requestId })
    return { status, headers: { ...headers, ...page.headers }, body: page.raw ?? "" }
  }
  const body =
    shape === "lookup"
      ? { error }
      : shape === "oauth"
        ? {
            error: (problem?.details?.["oauth"] as string | undefined) ?? oauthCode(status),
            error_description: error,
          }
        : {
            error,
            code,
            request_id: requestId,
            ...(problem?.fields === undefined ? {} : { fields: problem.fields }),
            ...problem?.details,
          }
  return { status, headers, body: JSON.stringify(body) }
}

export const refusalResponse = (
  kind: Refusal,
  requestId: string,
  details = "",
  shape?: ErrorBody,
  errorPage?: ErrorPage,
): RawResponse => {
  switch (kind) {
    case "bad_length":
      return problemResponse(
        new InvalidRequest({ error: "The length of the body is not said once and clearly." }),
        requestId,
        shape,
        errorPage,
      )
    case "bad_path":
      return problemResponse(
        new InvalidRequest({ error: "The path has bad percent-encoding, or NUL (U+0000)." }),
        requestId,
        shape,
        errorPage,
      )
    case "not_found":
      return problemResponse(new NotFound({ error: "There is no such path." }), requestId, shape, errorPage)
    case "method_not_allowed": {
      const response = problemResponse(
        new MethodNotAllowed({ error: `This path answers ${details}.` }),
        requestId,
        shape,
        errorPage,
      )
      return { ...response, headers: { ...response.headers, Allow: details } }
    }
    case "body_too_large":
      return problemResponse(
        new BodyTooLarge({ error: `The body may have at most ${details} bytes.` }),
        requestId,
        shape,
        errorPage,
      )
    case "deadline":
      return problemResponse(
        new Unavailable({ error: "The request was not finished in time.", retryAfterSeconds: 1 }),
        requestId,
        shape,
        errorPage,
      )
    case "defect":
      return problemResponse(undefined, requestId, shape, errorPage)
  }
}
