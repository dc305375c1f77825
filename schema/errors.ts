import { Data } from "effect"

export interface FieldIssue {
  readonly code: string
  readonly message: string
}
export type FieldIssues = Readonly<Record<string, ReadonlyArray<FieldIssue>>>

interface Facts {
  /** What happened, for a person. The class's summary when left out. */
  readonly error?: string
  readonly fields?: FieldIssues
  readonly retryAfterSeconds?: number
  /** Further headers of the answer, such as how a budget of requests stands. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the answer's body, such as the state that refused an event. */
  readonly details?: Readonly<Record<string, unknown>>
}

interface ProblemKind {
  readonly status: number
  readonly code: string
  readonly summary: string
}

/** A failure the API promises: its status and code are fixed per class, its words per case. */
const problem = <const Tag extends string>(tag: Tag, kind: ProblemKind) => {
  class Problem extends Data.TaggedError(tag)<Facts> {
    static readonly kind = kind
    /** Without the stack that led here: nobody reads a promised failure's, and a flood of them would pay for it. */
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

export const isProblem = (error: unknown): error is Problem =>
  error instanceof Error && typeof (error as Partial<Problem>).kind?.status === "number"

export class InvalidRequest extends problem("InvalidRequest", {
  status: 400,
  code: "invalid_request",
  summary: "The request is malformed.",
}) {}
export class UnsupportedEmoji extends problem("UnsupportedEmoji", {
  status: 400,
  code: "unsupported_emoji",
  summary: "The id contains a character outside the supported set.",
}) {}
export class Unauthorized extends problem("Unauthorized", {
  status: 401,
  code: "unauthorized",
  summary: "The access token is missing or invalid.",
}) {}
export class Forbidden extends problem("Forbidden", {
  status: 403,
  code: "forbidden",
  summary: "The caller may not do this.",
}) {}
export class NotFound extends problem("NotFound", {
  status: 404,
  code: "not_found",
  summary: "There is no such resource, or it is not yours.",
}) {}
export class MethodNotAllowed extends problem("MethodNotAllowed", {
  status: 405,
  code: "method_not_allowed",
  summary: "The resource does not answer this method.",
}) {}
export class EventRefused extends problem("EventRefused", {
  status: 409,
  code: "refused_by_state",
  summary: "The current state does not allow this.",
}) {}
export class Conflict extends problem("Conflict", {
  status: 409,
  code: "conflict",
  summary: "The request conflicts with what is there.",
}) {}
export class BodyTooLarge extends problem("BodyTooLarge", {
  status: 413,
  code: "body_too_large",
  summary: "The body is over this route's limit.",
}) {}
export class Unprocessable extends problem("Unprocessable", {
  status: 422,
  code: "unprocessable",
  summary: "The request is well-formed but cannot be applied.",
}) {
  /** It names the fields: clients of the original API look for them in every 422. */
  constructor(facts: Facts & { readonly fields: FieldIssues }) {
    super(facts)
  }
}
export const fieldFault = (field: string, code: string, message: string): Unprocessable =>
  new Unprocessable({ error: message, fields: { [field]: [{ code, message }] } })
export class TwoFactorRequired extends problem("TwoFactorRequired", {
  status: 424,
  code: "two_factor_required",
  summary: "Post a fresh two-factor code to /auth/2fa first.",
}) {}
export class UpgradeRequired extends problem("UpgradeRequired", {
  status: 426,
  code: "upgrade_required",
  summary: "This address speaks WebSocket only.",
}) {}
export class TooManyRequests extends problem("TooManyRequests", {
  status: 429,
  code: "too_many_requests",
  summary: "Too many requests.",
}) {}
export class Unavailable extends problem("Unavailable", {
  status: 503,
  code: "unavailable",
  summary: "A part this needs is down or too busy. Try again.",
}) {}
