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
import type { Direct } from "./direct.ts"
import type { ErrorBody, Method, Precomputed, RequestView } from "./endpoint.ts"
import type { Principal } from "./principal.ts"
import type { Deprecation } from "./response/deprecation.ts"
import type { Reply } from "./response/reply.ts"

/** A schema that needs no services to decode or encode. */
type Wire = Schema.Top & { readonly DecodingServices: never; readonly EncodingServices: never }
type WireFields = { readonly [name: string]: Wire }
type Decoded<F extends WireFields> = Schema.Struct<F>["Type"]

/**
 * The authentication schemes of the API. `none` ignores credentials; `optional` uses credentials if they are valid.
 * `JWT` and `apiKey` both accept a Bearer token or an API key; `two_factor` accepts only the Bearer token of a login
 * session.
 */
export const authSchemes = ["none", "optional", "JWT", "apiKey", "two_factor"] as const
export type AuthScheme = (typeof authSchemes)[number]
type PrincipalFor<A extends AuthScheme> = A extends "none"
  ? null
  : A extends "optional"
    ? Principal | null
    : Principal

/** Named rate limits. Their budgets are in `limits/budgets.ts`. */
export type LimitName = "login" | "mail" | "code" | "write" | "read"

/**
 * The errors that a route may return without declaring them. 401 and 403 are included only for routes that require an
 * authenticated caller.
 */
type CommonProblem<A extends AuthScheme> =
  | InvalidRequest
  | TooManyRequests
  | Unavailable
  | (A extends "none" | "optional" ? never : Unauthorized | Forbidden)

/**
 * Whose resources an operation can use, in addition to the row's `scope`:
 *   - `own`: a resource of the caller. It needs this scope, or no scope (`true`). `session`: no scope, but API keys
 *     are refused.
 *   - `organization`: a resource of an organization. The caller needs this scope by the role in that organization.
 *   - `others`: a resource of any user. The caller needs this scope by the global role.
 * docs/roles.md is generated from it, and test/security/roles/role-matrix.test.ts checks that the handlers agree. A row
 * without it uses no resource of a user except the caller's own data.
 */
export interface Access {
  readonly own?: Scope | true | "session"
  readonly organization?: Scope
  readonly others?: Scope
}

/** The access to a resource of an organization. A global role with the same scope gives access to all of them. */
export const inOrganization = (scope: Scope): Access => ({ organization: scope, others: scope })

/**
 * The kinds of work. Each kind has its own queue, so that a flood of one kind does not push out the others.
 * - `lookup`: lookups of ids that are not in the cache. Cached lookups have no queue.
 * - `read`, `write`: all other requests that read or write.
 * - `batch`: lookups of many ids.
 * - `login`: requests that check or set passwords, and requests that a bot check protects.
 * - `provider`: requests that can wait for another service, or come from one, for example a payment provider.
 */
export const workKinds = ["lookup", "read", "batch", "login", "provider", "write"] as const
export type WorkKind = (typeof workKinds)[number]

interface RowFacts<A extends AuthScheme> {
  readonly id: string
  readonly group: string
  /** What the operation does, as one short phrase. */
  readonly summary: string
  /**
   * The API reference shows it below the summary: what else a caller must know, in one to five sentences. Every
   * published route has it.
   */
  readonly description?: string
  /** The route will be removed: its responses and the OpenAPI document say when. */
  readonly deprecated?: Deprecation
  readonly method: Method
  readonly path: `/${string}`
  readonly auth: A
  readonly scope?: A extends "none" ? never : Scope
  readonly access?: A extends "none" ? never : Access
  /**
   * The scopes that only some requests of the operation need, in addition to `scope`, each with the case: a member of
   * the body, or a kind of resource.
   */
  readonly scopesInCases?: A extends "none" ? never : Partial<Record<Scope, string>>
  /** API keys cannot call the operation, although the scheme accepts them. They get 403. */
  readonly sessionOnly?: A extends "none" ? never : true
  /**
   * The route requires a recent two-factor code from users who have turned on two-factor authentication, and an API
   * key that was created for sensitive operations.
   */
  readonly sensitive?: A extends "none" ? never : true
  /**
   * The operation can end the login of its caller, or take away the caller's permission. A retry with the same
   * Idempotency-Key then gets the response of the completed request, although its token is no longer accepted.
   */
  readonly endsLogin?: A extends "none" ? never : true
  /** The route accepts the limited tokens of the OAuth authorization-code flow. */
  readonly oauth?: A extends "none" ? never : true
  readonly limit?: LimitName
  /** The kind of work, if it is not the usual one (see `workOf`). `unlimited`: requests are never refused or queued. */
  readonly work?: WorkKind | "unlimited"
  readonly status?: number
  /** The redirect statuses of this route, in addition to `status`. */
  readonly redirects?: ReadonlyArray<302 | 303>
  readonly bodyLimitBytes?: number
  /** The route has a body but changes nothing. Its requests may be repeated, and an Idempotency-Key is ignored. */
  readonly reads?: true
  /**
   * The route ignores an Idempotency-Key, although it writes: it is a form that a browser sends, or what it does is done
   * by another service.
   */
  readonly keyless?: true
  /** The handler gets the body as bytes, because it is not JSON. */
  readonly rawBody?: true
  /** The query parameters for OpenAPI, if the handler parses the query string itself. */
  readonly search?: WireFields
  /** The request headers that the handler reads. */
  readonly headers?: ReadonlyArray<string>
  readonly errorBody?: ErrorBody
  /** Scripts of other origins cannot read the responses, whatever ALLOWED_ORIGINS contains. */
  readonly sameOrigin?: true
  /**
   * The handler reads the caller's address, or causes a security event. Writes need no such declaration. For a read
   * that has neither this nor a rate limit, the address is not looked up.
   */
  readonly needsAddress?: true
  /** The media type of the response, if it is not JSON. */
  readonly produces?: string
  /** The route is not part of the published API, so OpenAPI does not contain it. */
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
  /** The query string as the client sent it, for routes that must see repeated parameters. */
  readonly search: string
  /** The caller's address. Empty unless the route needs it (see `needsAddress`). */
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
> extends RowFacts<A> {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly success: S
  readonly errors: ReadonlyArray<E>
  /** Handles a request. It returns the encoded form of `success`, which is sent without further encoding. */
  readonly handler: (
    request: HandlerRequest<A, Decoded<P>, Decoded<Q>, B["Type"]>,
  ) => Effect.Effect<S["Encoded"] | Reply<S["Encoded"]>, InstanceType<E> | CommonProblem<A>, R>
  /**
   * Built once at startup. The function returns a precomputed response without starting a fiber, or undefined if the
   * handler must be called.
   */
  readonly prepared?: Effect.Effect<(view: RequestView) => Precomputed | undefined, never, R>
  /** Built once at startup. Answers a part of the requests without a fiber (see `Direct`). The handler answers the others. */
  readonly direct?: Effect.Effect<Direct, never, R>
}

/** A route without the types of its request and response. The function `route` has already checked them. */
export interface Route<R = unknown> extends RowFacts<AuthScheme> {
  readonly params?: WireFields
  readonly query?: WireFields
  readonly body?: Wire
  readonly success: Wire
  readonly errors: ReadonlyArray<ProblemClass>
  readonly handler: (request: never) => Effect.Effect<unknown, unknown, R>
  readonly prepared?: Effect.Effect<(view: RequestView) => Precomputed | undefined, never, R>
  readonly direct?: Effect.Effect<Direct, never, R>
}

export const isWrite = ({ method, reads }: Pick<Route, "method" | "reads">): boolean =>
  method !== "get" && !reads

/** Returns the kind of work of a route, or undefined if its requests are not limited. */
export const workOf = (
  route: Pick<Route, "limit" | "method" | "prepared" | "reads" | "work">,
): WorkKind | undefined => {
  if (route.work !== undefined) return route.work === "unlimited" ? undefined : route.work
  if (route.prepared !== undefined) return "lookup"
  if (route.limit === "login") return "login"
  return isWrite(route) ? "write" : "read"
}

/**
 * Whether the route supports Idempotency-Key. These are the writes that authenticate callers or have a rate limit, so
 * that the storage for responses is limited. The handler of such a route contains one `atMostOnce` (actors/operation.ts).
 */
export const takesKey = (route: Pick<Route, "auth" | "keyless" | "limit" | "method" | "reads">): boolean =>
  isWrite(route) && !route.keyless && (route.auth !== "none" || route.limit !== undefined)

/** Declares a route. The compiler checks its types; the value is returned unchanged. */
export const route = <
  const A extends AuthScheme,
  S extends Wire,
  const E extends ProblemClass = never,
  P extends WireFields = {},
  Q extends WireFields = {},
  B extends Wire = never,
  R = never,
>(
  spec: RouteSpec<A, P, Q, B, S, E, R>,
): Route<R> => spec as never
