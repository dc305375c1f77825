import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import { Outbox } from "../turns/outbox.ts"
import { type FreedId, makeInterestNoticeStore } from "./interest-notice-store.ts"
import { Market } from "./market.ts"
import { isOnSale } from "./market-parameters.ts"

const batchSize = 64
const leaseSeconds = 30
const usersPerRound = 500
// An id that comes and goes, as carts expire, is news to the same user once an hour.
const quietSeconds = 3600

/**
 * Tells users of ids they asked about that are free again: the first of them who could buy it, and after a head start the
 * others in their order. It is news, not a right: whoever checks out first has the id.
 */
export class InterestNotices extends Context.Service<
  InterestNotices,
  {
    /** Everything due now is told when it returns; answers how many ids it dealt with. */
    readonly round: Effect.Effect<number, Unavailable>
  }
>()("directory/InterestNotices") {
  static readonly layer = Layer.effect(
    InterestNotices,
    Effect.gen(function* () {
      const config = yield* AppConfig
      const market = yield* Market
      const outbox = yield* Outbox
      const publisher = yield* Publisher
      const store = yield* makeInterestNoticeStore
      const linkTo = (canonical: string) => `${config.webUrl}/?emoji_id=${encodeURIComponent(canonical)}`

      const tell = Effect.fnUntraced(function* (freed: FreedId, lease: string) {
        const { canonical } = freed
        const limit = freed.first_told ? usersPerRound : 1
        // An id of a length that is held back is no news until it is on sale. By what is stored: it was freed by that, perhaps.
        const isNews = isOnSale(canonical, yield* market.storedParameters)
        // One more than is told now, to know whether somebody is left. Who only claims to have an address could not check
        // out: they are not written to, and are told with the others.
        const untold = isNews ? yield* store.findRecipients(freed, { limit: limit + 1, quietSeconds }) : []
        const told = untold.slice(0, limit)
        const mail = yield* outbox.seal(
          told.flatMap(({ email }) =>
            email === null
              ? []
              : [
                  {
                    to: email,
                    kind: "interest_available",
                    data: { emoji_id: canonical, link: linkTo(canonical) },
                  },
                ],
          ),
        )
        const events = yield* store.saveNotices({
          canonical,
          lease,
          users: told.map(({ user_id }) => user_id),
          mail,
          done: untold.length <= limit,
          head_start_seconds: config.interestHeadStartSeconds,
        })
        publisher.moved(events)
      })

      const round = Effect.gen(function* () {
        let handled = 0
        for (;;) {
          const lease = randomUUID()
          const freed = yield* store.leaseFreed(lease, batchSize, leaseSeconds)
          yield* Effect.forEach(freed, (id) => tell(id, lease), { discard: true })
          handled += freed.length
          if (freed.length === 0) return handled
        }
      })

      yield* Effect.forkScoped(
        round.pipe(
          Effect.catchCause((cause) => Effect.logDebug("interest notices put off", cause)),
          Effect.delay(`${config.sweepIntervalMs} millis`),
          Effect.forever,
        ),
      )
      return InterestNotices.of({ round })
    }),
  )
}
