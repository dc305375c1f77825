import { Context, Effect } from "effect"

/**
 * A request with an Idempotency-Key. The statement that commits its effect also stores its outcome with the key. So a
 * retry after a crash finds either both or neither: it makes the response from the outcome, or runs the request.
 */
export interface Operation {
  readonly caller: string
  readonly key: string
  /**
   * Identifies the attempt that commits the effect. Another attempt can have taken over the key; then this one must not
   * commit. After the commit it identifies the effect: a retry that only makes the response has the same.
   */
  readonly run: string
  /**
   * Whether this attempt knows the outcome: an earlier attempt committed the effect, or this one got the result of its
   * commit. Otherwise its effect can still be committed, by a statement whose result was lost.
   */
  knowsOutcome: boolean
  /** The outcome, if an earlier attempt of the request committed its effect. */
  readonly committed: { readonly outcome: unknown } | undefined
  /** Encrypts a JSON value, because outcomes can contain personal data and secrets. */
  seal(value: unknown): Effect.Effect<string>
  /** Is called after the effect was committed and before the response is made. Crash tests stop the process here. */
  readonly afterCommit: Effect.Effect<void>
}

/** The request that this fiber executes, if it has an Idempotency-Key. */
export const CurrentOperation = Context.Reference<Operation | undefined>("directory/CurrentOperation", {
  defaultValue: () => undefined,
})

/** The parameters that store the outcome of a request in the statement that commits its effect. */
export interface KeyCommit {
  readonly caller: string
  readonly key: string
  readonly run: string
  readonly outcome: string
}

/**
 * Proof that `outcome` was stored by the statement that committed the effect. Only a turn with an `outcome`, and the
 * writes of `Sql`, return it. It must be a JSON value.
 */
export class Written<T> {
  readonly outcome: T
  readonly isCommitted: boolean

  constructor(outcome: T, isCommitted = true) {
    this.outcome = outcome
    this.isCommitted = isCommitted
  }
}

/**
 * Returns the outcome of a request that changes nothing, for example because the change was already made. A retry runs
 * the request again.
 */
export const unchanged = <T>(outcome: T): Written<T> => new Written(outcome, false)

/** Runs a write that does not complete the request. It stores nothing with the Idempotency-Key. */
export const apart = <A, E, R>(write: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(write, CurrentOperation, undefined)

/** Makes the parameters that store this outcome. Undefined if the request has no Idempotency-Key. */
export const keyCommitOf = (outcome: unknown): Effect.Effect<KeyCommit | undefined> =>
  Effect.flatMapEager(CurrentOperation, (operation) => {
    if (operation === undefined) return Effect.succeed(undefined)
    const { caller, key, run } = operation
    return Effect.map(operation.seal(outcome), (sealed) => ({ caller, key, run, outcome: sealed }))
  })

/**
 * Runs the part of a request up to its commit, at most once per Idempotency-Key, and returns the outcome. If an earlier
 * attempt has committed it, the stored outcome is returned and nothing is run. So checks that fail after the effect, such
 * as "is the id still available?", belong inside. What follows makes the response, and can run again after a crash.
 * A request can contain only one such part.
 */
export const atMostOnce = <T, E, R>(act: Effect.Effect<Written<T>, E, R>): Effect.Effect<T, E, R> =>
  Effect.flatMapEager(CurrentOperation, (operation) => {
    if (operation === undefined) return Effect.map(act, ({ outcome }) => outcome)
    if (operation.committed !== undefined) return Effect.succeed(operation.committed.outcome as T)
    return Effect.flatMap(act, ({ isCommitted, outcome }) => {
      operation.knowsOutcome = isCommitted
      // The response is made from the stored form, so that a repeat makes the same response.
      return Effect.as(operation.afterCommit, JSON.parse(JSON.stringify(outcome)) as T)
    })
  })
