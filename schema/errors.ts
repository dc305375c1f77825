import { Data } from "effect"

export interface FieldIssue {
  readonly code: string
  readonly message: string
}
export type FieldIssues = Readonly<Record<string, ReadonlyArray<FieldIssue>>>

/**
 * After how many seconds the same request can succeed. `never`: it fails again until something is changed, for
 * example the request, the resource or the configuration.
 */
type RetryAfter = number | "never"

interface Facts {
  /** The message for the caller. If it is missing, the summary of the error class is used. */
  readonly error?: string
  readonly fields?: FieldIssues
  /** See `retryAfter`. */
  readonly retryAfterSeconds?: RetryAfter
  /** Additional response headers, for example the state of a rate limit. */
  readonly headers?: Readonly<Record<string, string>>
  /** Additional members of the response body, for example the state in which an event is not allowed. */
  readonly details?: Readonly<Record<string, unknown>>
}

interface ProblemKind {
  readonly status: number
  readonly code: string
  readonly summary: string
}

/**
 * Makes the class of a documented API error. All errors of the class have the same status and code, but each can have
 * its own message.
 */
const problem = <const Tag extends string>(tag: Tag, kind: ProblemKind) => {
  class Problem extends Data.TaggedError(tag)<Facts> {
    static readonly kind = kind
    /**
     * Creates the error without a stack trace. Documented errors do not need one, and recording it would make frequent
     * errors expensive.
     */
    constructor(facts: Facts) {
      const { stackTraceLimit } = Error
      Error.stackTraceLimit = 0
      super(facts)
      Error.stackTraceLimit = stackTraceLimit
    }
    get kind(): ProblemKind {
      return kind
    }
    override get message(): string {
      return this.error ?? kind.summary
    }
  }
  return Problem
}

export interface Problem extends Error, Facts {
  readonly _tag: string
  readonly kind: ProblemKind
}
export interface ProblemClass {
  readonly kind: ProblemKind
  new (facts: never): Problem
}

const retryStatuses = new Set([409, 429, 503])

/**
 * Returns the value of the Retry-After header, or undefined if the response has none. Many HTTP clients repeat a
 * request by themselves when they see the header. So it is sent only if the same request can succeed later without
 * any other change:
 *   - 429: when the window of a rate limit, a lock or the time between two mails ends. Not for a limit that never
 *     resets, and not for unknown paths.
 *   - 503: when a dependency is reachable again, a queue has room, or the deadline was too early. Not if a feature is
 *     not configured, or the dependency has rejected the request.
 *   - 409: when the first request with the same Idempotency-Key is complete. Not if the state refuses the request.
 *   - Other statuses: never. For 424, a new two-factor code is needed; for 413, a smaller body.
 * `TooManyRequests` and `Unavailable` cannot be created without this decision.
 */
export const retryAfter = ({ kind, retryAfterSeconds }: Problem): number | undefined =>
  typeof retryAfterSeconds === "number" && retryStatuses.has(kind.status)
    ? Math.max(1, Math.ceil(retryAfterSeconds))
    : undefined

export const isProblem = (error: unknown): error is Problem =>
  error instanceof Error && typeof (error as Partial<Problem>).kind?.status === "number"

export class InvalidRequest extends problem("InvalidRequest", {
  status: 400,
  code: "invalid_request",
  summary: "The request is malformed. Check its parameters and body.",
}) {}
/** The error for an invalid value in the request: a path parameter, a query parameter or a member of the body. */
export const invalidValue = (
  where: "path" | "query" | "body",
  name: string,
  message: string,
  code = "invalid",
): InvalidRequest =>
  new InvalidRequest({
    error: `${where}: ${name}: ${message}`,
    fields: { [name]: [{ code, message }] },
  })
export class UnsupportedEmoji extends problem("UnsupportedEmoji", {
  status: 400,
  code: "unsupported_emoji",
  summary: "The emoji id contains a character that is not a supported emoji.",
}) {}
export class UnknownAsset extends problem("UnknownAsset", {
  status: 400,
  code: "unknown_asset",
  summary: "The asset is not known. Send a ticker such as BTC or USDC.",
}) {}
export class UnknownNetwork extends problem("UnknownNetwork", {
  status: 400,
  code: "unknown_network",
  summary: "The network is not known, or the asset does not exist on it.",
}) {}
export class NetworkRequired extends problem("NetworkRequired", {
  status: 400,
  code: "network_required",
  summary: "The asset exists on several networks. Name one of them.",
}) {}
export class Unauthorized extends problem("Unauthorized", {
  status: 401,
  code: "unauthorized",
  summary: "The access token is missing or invalid. Log in again, or refresh the token.",
}) {}
export class Forbidden extends problem("Forbidden", {
  status: 403,
  code: "forbidden",
  summary: "You do not have permission for this operation.",
}) {}
export class NotFound extends problem("NotFound", {
  status: 404,
  code: "not_found",
  summary: "The resource does not exist, or you do not have access to it.",
}) {}
export class NoAddress extends problem("NoAddress", {
  status: 404,
  code: "no_address",
  summary: "The emoji id has no address for this asset on this network.",
}) {}
export class MethodNotAllowed extends problem("MethodNotAllowed", {
  status: 405,
  code: "method_not_allowed",
  summary: "The resource does not support this HTTP method.",
}) {}
export class EventRefused extends problem("EventRefused", {
  status: 409,
  code: "refused_by_state",
  summary: "The current state does not allow this operation.",
}) {}
export class Conflict extends problem("Conflict", {
  status: 409,
  code: "conflict",
  summary: "The request conflicts with the current state of the resource.",
}) {}
export class BodyTooLarge extends problem("BodyTooLarge", {
  status: 413,
  code: "body_too_large",
  summary: "The request body exceeds the size limit of this operation.",
}) {}
export class Unprocessable extends problem("Unprocessable", {
  status: 422,
  code: "unprocessable",
  summary: "The request is well-formed, but some of its values are not valid.",
}) {
  /** `fields` is required, because clients of the original API expect it in every 422 response. */
  constructor(facts: Facts & { readonly fields: FieldIssues }) {
    super(facts)
  }
}
export const fieldFault = (field: string, code: string, message: string): Unprocessable =>
  new Unprocessable({ error: message, fields: { [field]: [{ code, message }] } })
export class TwoFactorRequired extends problem("TwoFactorRequired", {
  status: 424,
  code: "two_factor_required",
  summary: "This operation requires a recent two-factor code. Send a new code to POST /auth/2fa, then retry.",
}) {}
export class UpgradeRequired extends problem("UpgradeRequired", {
  status: 426,
  code: "upgrade_required",
  summary: "This endpoint accepts only WebSocket connections.",
}) {}
export class TooManyRequests extends problem("TooManyRequests", {
  status: 429,
  code: "too_many_requests",
  summary: "Too many requests. Retry after the time in the Retry-After header.",
}) {
  constructor(facts: Facts & { readonly retryAfterSeconds: RetryAfter }) {
    super(facts)
  }
}
export class Unavailable extends problem("Unavailable", {
  status: 503,
  code: "unavailable",
  summary: "The service is temporarily unavailable. Retry later.",
}) {
  constructor(facts: Facts & { readonly retryAfterSeconds: RetryAfter }) {
    super(facts)
  }
}
