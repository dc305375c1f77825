import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { Outbox } from "../turns/outbox.ts"
import { type FreedId, makeInterestNoticeStore } from "./interest-notice-store.ts"
import { Market } from "./market.ts"
import { isOnSale } from "./market-parameters.ts"

const batchSize = 64
const leaseSeconds = 30
const usersPerRound = 500
// A user gets at most one notice per id and hour. Without this limit, an id that is put into one expiring cart after
// the other would cause a notice each time it becomes free.
const quietSeconds = 3600

/**
 * When an id becomes free, notifies the users who have an interest in it. The first notice goes to the user with the
 * oldest interest who can buy the id. After a head start, the other users are notified in the order of their
 * interests. A notice reserves nothing: the first user who checks out gets the id.
 */
export class InterestNotices extends Context.Service<
  InterestNotices,
  {
    /** Sends all notices that are due and returns the number of ids that were handled. */
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

      const notify = Effect.fnUntraced(function* (freed: FreedId, lease: string) {
        const { canonical } = freed
        const limit = freed.first_told ? usersPerRound : 1
        // Users are notified only about ids that are for sale. The parameters are read from the database, not from
        // memory. A change of the parameters can be the reason for this notice, and the copy in memory may not contain
        // this change yet.
        const isForSale = isOnSale(canonical, yield* market.storedParameters)
        // Reads one user more than `limit`, to know whether more users are waiting. A user with an unverified email
        // cannot check out. Such a user gets no mail, and gets the head start only if all waiting users have an
        // unverified email.
        const waiting = isForSale
          ? yield* store.findRecipients(freed, { limit: limit + 1, quietSeconds })
          : []
        const notified = waiting.slice(0, limit)
        const mail = yield* outbox.seal(
          notified.flatMap(({ email }) =>
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
          users: notified.map(({ user_id }) => user_id),
          mail,
          done: waiting.length <= limit,
          head_start_seconds: config.interestHeadStartSeconds,
        })
        publisher.moved(events)
      })

      const round = Effect.gen(function* () {
        let handled = 0
        for (;;) {
          const lease = randomUUID()
          const freed = yield* store.leaseFreed(lease, batchSize, leaseSeconds)
          yield* Effect.forEach(freed, (id) => notify(id, lease), { discard: true })
          handled += freed.length
          if (freed.length === 0) return handled
        }
      })

      yield* Effect.forkScoped(
        round.pipe(
          Effect.catchCause((cause) => Effect.logDebug("interest notices failed", cause)),
          Effect.delay(`${config.sweepIntervalMs} millis`),
          Effect.forever,
        ),
      )
      return InterestNotices.of({ round })
    }),
  )
}
