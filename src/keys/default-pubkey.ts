import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { CustodialKeys } from "./custodial-keys.ts"
import { Pubkeys } from "./pubkey-store.ts"

/** Selects the key that owns a new id of a user. If the user has no key, a custodial key is generated. */
export class DefaultPubkeys extends Context.Service<
  DefaultPubkeys,
  {
    /**
     * Returns `preferred` if this key belongs to the user. Otherwise returns the user's oldest key, or a new custodial
     * key if the user has none.
     */
    of(userId: string, preferred?: string | null): Effect.Effect<string, Unavailable>
  }
>()("directory/DefaultPubkeys") {
  static readonly layer = Layer.effect(
    DefaultPubkeys,
    Effect.gen(function* () {
      const bus = yield* Bus
      const custodial = yield* CustodialKeys
      const pubkeys = yield* Pubkeys

      return DefaultPubkeys.of({
        of: Effect.fnUntraced(function* (userId, preferred = null) {
          const known = yield* pubkeys.findFirst(userId, preferred)
          if (known !== undefined) return known
          const key = yield* custodial.make
          // Two simultaneous requests may both add a key. Both keys are valid, and the older one is the default.
          yield* pubkeys.addCustodial(userId, key)
          yield* bus.invalidate(accountTopic, [userId])
          return (yield* pubkeys.findFirst(userId, preferred)) ?? key.pubkey
        }),
      })
    }),
  )
}
