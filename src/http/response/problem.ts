import {
  BodyTooLarge,
  InvalidRequest,
  MethodNotAllowed,
  NotFound,
  type Problem,
  retryAfter,
  TooManyRequests,
  Unavailable,
} from "../../../schema/errors.ts"
import type { ErrorBody, RawResponse } from "../endpoint.ts"
import type { Refusal } from "../exchange.ts"
import { bearerChallenge, missingScopeChallenge } from "./challenge.ts"
import { errorCodeHeader, internalCode } from "./error-code.ts"
import type { Reply } from "./reply.ts"

/** Renders an error as a page. `src/web` implements it, because `src/http` does not depend on pages. */
export type ErrorPage = (facts: {
  readonly status: number
  readonly error: string
  readonly requestId: string
}) => Reply<never>

/**
 * Returns the OAuth error code for a failure of the token endpoint that has no code of its own. RFC 6749 defines only
 * a few codes.
 */
const oauthCode = (status: number): string => {
  if (status === 503 || status === 429) return "temporarily_unavailable"
  return status >= 500 ? "server_error" : "invalid_request"
}

/** The scheme to log in with, and for a missing scope its name. */
const challengeOf = (problem: Problem | undefined): Readonly<Record<string, string>> => {
  if (problem?.kind.status === 401) return { "WWW-Authenticate": bearerChallenge }
  const scope = problem?.details?.["scope"]
  return problem?.kind.status === 403 && typeof scope === "string"
    ? { "WWW-Authenticate": missingScopeChallenge(scope) }
    : {}
}

/**
 * Converts a problem into a response. If `problem` is undefined, the error is a defect: the response is a 500 that
 * contains no details except the request id.
 */
export const problemResponse = (
  problem: Problem | undefined,
  requestId: string,
  shape?: ErrorBody,
  errorPage?: ErrorPage,
): RawResponse => {
  const status = problem?.kind.status ?? 500
  const code = problem?.kind.code ?? internalCode
  const error = problem?.message ?? "Internal server error. Retry later, or report the request id."
  const waitSeconds = problem === undefined ? undefined : retryAfter(problem)
  const headers = {
    "Content-Type": "application/json",
    [errorCodeHeader]: code,
    ...challengeOf(problem),
    ...problem?.headers,
    ...(status === 426 ? { Upgrade: "websocket" } : {}),
    ...(waitSeconds === undefined ? {} : { "Retry-After": String(waitSeconds) }),
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

const refusalProblem = (kind: Refusal, details: string): Problem | undefined => {
  switch (kind) {
    case "bad_length":
      return new InvalidRequest({
        error: "The request needs exactly one valid Content-Length, or Transfer-Encoding: chunked.",
      })
    case "bad_path":
      return new InvalidRequest({
        error: "The path has invalid percent-encoding or contains NUL (U+0000).",
      })
    case "not_found":
      return new NotFound({ error: "Path not found." })
    case "too_many_unknown":
      return new TooManyRequests({
        error: "Too many requests for paths that do not exist. See /docs for the paths of this service.",
        retryAfterSeconds: "never",
      })
    case "method_not_allowed":
      return new MethodNotAllowed({
        error: `This path does not support the method. Use one of: ${details}.`,
      })
    case "body_too_large":
      return new BodyTooLarge({ error: `The body is too large. The limit is ${details} bytes.` })
    case "overloaded":
      return new Unavailable({
        error: "The service is overloaded. The request was not started. Retry later.",
        retryAfterSeconds: Number(details),
      })
    case "deadline":
      return new Unavailable({
        error: "The request was not completed before its deadline. Retry later.",
        retryAfterSeconds: 1,
      })
    case "defect":
      return undefined
  }
}

/**
 * Returns the response to a request that the server itself refuses or fails, for one of the reasons in `Refusal`.
 * `details` is the size limit for `body_too_large`, the list of methods for `method_not_allowed`, and the time to wait
 * for `overloaded`, in seconds.
 */
export const refusalResponse = (
  kind: Refusal,
  requestId: string,
  details = "",
  shape?: ErrorBody,
  errorPage?: ErrorPage,
): RawResponse => {
  const response = problemResponse(refusalProblem(kind, details), requestId, shape, errorPage)
  return kind === "method_not_allowed"
    ? { ...response, headers: { ...response.headers, Allow: details } }
    : response
}
