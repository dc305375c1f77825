import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { CustodialKeys } from "./custodial-keys.ts"
import { Pubkeys } from "./pubkey-store.ts"

/** The key an id is bound to when its owner names none. Whoever has no key yet gets one the service keeps. */
export class DefaultPubkeys extends Context.Service<
  DefaultPubkeys,
  {
    /** `preferred` when it is the user's, else their oldest key. */
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
          // Two requests at once may both add a key; both are good, and the older is the first from then on.
          yield* pubkeys.addCustodial(userId, key)
          yield* bus.invalidate(accountTopic, [userId])
          return (yield* pubkeys.findFirst(userId, preferred)) ?? key.pubkey
        }),
      })
    }),
  )
}
