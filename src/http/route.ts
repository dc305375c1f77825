import type { Effect, Schema } from "effect"
import type { Scope } from "../../schema/accounts/scope.ts"
import type {
  Forbidden,
  InvalidRequest,
  ProblemClass,
  TooManyRequests,
  Unauthorized,
  Unavailable,
} from "../../schema/errors.ts"
import type { ErrorBody, Method, Precomputed, RequestView } from "./endpoint.ts"
import type { Principal } from "./principal.ts"
import type { Reply } from "./response/reply.ts"

/** Schemas that need no services to decode. */
type Wire = Schema.Top & { readonly DecodingServices: never; readonly EncodingServices: never }
type WireFields = { readonly [name: string]: Wire }
type Decoded<F extends WireFields> = Schema.Struct<F>["Type"]

/**
 * The spec's schemes. `none` ignores credentials, `optional` uses valid ones. `JWT` and `apiKey` take a Bearer
 * token or an API key; `two_factor` takes only the Bearer token of a login session.
 */
export const authSchemes = ["none", "optional", "JWT", "apiKey", "two_factor"] as const
export type AuthScheme = (typeof authSchemes)[number]
type PrincipalFor<A extends AuthScheme> = A extends "none"
  ? null
  : A extends "optional"
    ? Principal | null
    : Principal

/** Named budgets of requests; their sizes live with the limiter. */
export type LimitName = "login" | "mail" | "code" | "write" | "read"

/** Failures a route may answer without declaring them: those of every guarded row only where callers are known. */
type CommonProblem<A extends AuthScheme> =
  | InvalidRequest
  | TooManyRequests
  | Unavailable
  | (A extends "none" | "optional" ? never : Unauthorized | Forbidden)

interface RowFacts<A extends AuthScheme, M = Method, Path = `/${string}`> {
  readonly id: string
  readonly group: string
  readonly summary: string
  readonly method: M
  readonly path: Path
  readonly auth: A
  readonly scope?: A extends "none" ? never : Scope
  /** Asks for a fresh two-factor code from users who have two-factor on. */
  readonly sensitive?: A extends "none" ? never : true
  /** Open to the limited tokens of the authorization-code flow. */
  readonly oauth?: A extends "none" ? never : true
  readonly limit?: LimitName
  readonly status?: number
  /** With these it sends its caller on to another address, beside what it answers itself. */
  readonly redirects?: ReadonlyArray<302 | 303>
  readonly bodyLimitBytes?: number
  /** Has a body and changes nothing: it may be repeated, and what it answered before is never told again. */
  readonly reads?: true
  /** A body that is not JSON reaches the handler as bytes. */
  readonly rawBody?: true
  /** The query as the document tells of it, where the handler reads it as it was sent. */
  readonly search?: WireFields
  /** Request headers the handler reads. */
  readonly headers?: ReadonlyArray<string>
  readonly errorBody?: ErrorBody
  /** Whatever origins may call the API: scripts of theirs may not read this row's answers. */
  readonly sameOrigin?: true
  /** The handler reads the address of the caller. Without this, or a limit, it is not looked up. */
  readonly needsAddress?: true
  /** Not JSON: the media type of what the handler replies. */
  readonly produces?: string
  /** Not part of the published API. */
  readonly internal?: true
}

export interface HandlerRequest<A extends AuthScheme, P, Q, B> {
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly principal: PrincipalFor<A>
  readonly headers: Readonly<Record<string, string>>
  readonly requestId: string
  readonly path: string
  /** The query string as sent, for rows that must see what is repeated in it. */
  readonly search: string
  /** The address of the caller, for rows with `needsAddress`. */
  readonly address: string
  readonly rawBody: Uint8Array
}

export interface RouteSpec<
  A extends AuthScheme,
  P extends WireFields,
  Q extends WireFields,
  B extends Wire,
  S extends Wire,
  E extends ProblemClass,
  R,
  M extends Method = Method,
  Path extends `/${string}` = `/${string}`,
> extends RowFacts<A, M, Path> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly success: S
  readonly errors: ReadonlyArray<E>
  /** Answers with the wire form of `success`: what is returned here is what is sent. */
  readonly handler: (
    request: HandlerRequest<A, Decoded<P>, Decoded<Q>, B["Type"]>,
  ) => Effect.Effect<S["Encoded"] | Reply<S["Encoded"]>, InstanceType<E> | CommonProblem<A>, R>
  /** Built once at start: answers without a fiber, or leaves the request to the handler. */
  readonly prepared?: Effect.Effect<(view: RequestView) => Precomputed | undefined, never, R>
}

/** A route whose request and response types have been checked and then forgotten. */
export interface Route<R = unknown> extends RowFacts<AuthScheme> {
  readonly params?: WireFields
  readonly query?: WireFields
  readonly body?: Wire
  readonly success: Wire
  readonly errors: ReadonlyArray<ProblemClass>
  readonly handler: (request: never) => Effect.Effect<unknown, unknown, R>
  readonly prepared?: Effect.Effect<(view: RequestView) => Precomputed | undefined, never, R>
}

export const isWrite = ({ method, reads }: Pick<Route, "method" | "reads">): boolean =>
  method !== "get" && !reads

/** Writes are done once per Idempotency-Key. What is kept for it has an end because its sender is known or counted. */
export const takesKey = (route: Pick<Route, "auth" | "limit" | "method" | "reads">): boolean =>
  isWrite(route) && (route.auth !== "none" || route.limit !== undefined)

/** What a caller must know of a row. Only types: the member is never there. */
export interface CallOf<
  M extends Method,
  Path extends string,
  Q extends WireFields,
  B extends Wire,
  S extends Wire,
> {
  readonly "~call"?: {
    readonly method: M
    readonly path: Path
    readonly query: Schema.Struct<Q>["Encoded"]
    /** Never: the operation takes no body. */
    readonly body: B["Encoded"]
    readonly answer: S["Encoded"]
  }
}

export const route = <
  const A extends AuthScheme,
  S extends Wire,
  const M extends Method,
  const Path extends `/${string}`,
  const E extends ProblemClass = never,
  P extends WireFields = {},
  Q extends WireFields = {},
  B extends Wire = never,
  R = never,
>(
  spec: RouteSpec<A, P, Q, B, S, E, R, M, Path>,
): Route<R> & CallOf<M, Path, Q, B, S> => spec as never
