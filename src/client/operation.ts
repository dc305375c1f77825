import type { Table } from "../routes.ts"

/**
 * The types of the API's operations, derived from the route table of the service: `"GET /cart"` and so on, each with
 * its path parameters, query, body and response. This file contains types only.
 */

type Shape<Row> = Row extends { readonly "~call"?: infer Call } ? NonNullable<Call> : never
type Shapes = Shape<Table[number]>

type MethodName<M extends string> = M extends "del" ? "DELETE" : Uppercase<M>
type NameOf<C> = C extends { readonly method: infer M extends string; readonly path: infer P extends string }
  ? `${MethodName<M>} ${P}`
  : never
export type OperationName = NameOf<Shapes>
type Operation<N extends OperationName> = Shapes extends infer C
  ? C extends Shapes
    ? NameOf<C> extends N
      ? C
      : never
    : never
  : never

type ParameterNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type Parameters<Path extends string> = [ParameterNames<Path>] extends [never]
  ? {}
  : { readonly params: { readonly [K in ParameterNames<Path>]: string } }
type Query<Q> = keyof Q extends never ? {} : {} extends Q ? { readonly query?: Q } : { readonly query: Q }
type Body<B> = [B] extends [never] ? {} : { readonly body: B }

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Requests with the same key are executed once. */
  readonly idempotencyKey?: string
}

type InputOf<C> = C extends {
  readonly path: infer P extends string
  readonly query: infer Q
  readonly body: infer B
}
  ? Parameters<P> & Query<Q> & Body<B> & CallOptions
  : never

/** The argument may be omitted if all of its members are optional. */
export type Input<N extends OperationName> =
  {} extends InputOf<Operation<N>>
    ? readonly [input?: InputOf<Operation<N>>]
    : readonly [input: InputOf<Operation<N>>]

export type Answer<N extends OperationName> = Operation<N> extends { readonly answer: infer A } ? A : never
