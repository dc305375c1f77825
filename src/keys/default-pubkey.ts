import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Pubkeys } from "./pubkey-store.ts"

/** Selects the key that owns a new id of a user. */
export class DefaultPubkeys extends Context.Service<
  DefaultPubkeys,
  {
    /** Returns `preferred` if this key belongs to the user. Otherwise returns the user's oldest key. */
    of(userId: string, preferred?: string | null): Effect.Effect<string, Unavailable>
  }
>()("directory/DefaultPubkeys") {
  static readonly layer = Layer.effect(
    DefaultPubkeys,
    Effect.gen(function* () {
      const pubkeys = yield* Pubkeys
      return DefaultPubkeys.of({
        of: Effect.fnUntraced(function* (userId, preferred = null) {
          const known = yield* pubkeys.findFirst(userId, preferred)
          if (known !== undefined) return known
          // Only accounts of release 0.2 have no key, until `giveMissingKeys` has found them.
          yield* pubkeys.giveFirst([userId])
          // An account that was deleted in the meantime gets no key. The commit then refuses the id.
          return (yield* pubkeys.findFirst(userId, preferred)) ?? ""
        }),
      })
    }),
  )
}
