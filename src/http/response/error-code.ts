import * as problems from "../../../schema/errors.ts"
import type { RawResponse } from "../endpoint.ts"

/** The header with the code of an error. Responses whose body has no `code`, such as pages and lookups, have it too. */
export const errorCodeHeader = "X-Error-Code"
export const internalCode = "internal"

const classes = [
  problems.InvalidRequest,
  problems.Unauthorized,
  problems.Forbidden,
  problems.NotFound,
  problems.MethodNotAllowed,
  problems.Conflict,
  problems.BodyTooLarge,
  problems.Unprocessable,
  problems.TwoFactorRequired,
  problems.UpgradeRequired,
  problems.TooManyRequests,
  problems.Unavailable,
]
const codes = new Map(classes.map(({ kind }) => [kind.status, kind.code]))

/** Adds the code to an error that a handler returned as a response, for example a form with a message. */
export const withErrorCode = (response: RawResponse): RawResponse =>
  response.status < 400 || response.headers?.[errorCodeHeader] !== undefined
    ? response
    : {
        ...response,
        headers: {
          ...response.headers,
          [errorCodeHeader]: codes.get(response.status) ?? internalCode,
        },
      }
