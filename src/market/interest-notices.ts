import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import { Sql } from "../postgres/sql.ts"
import { Outbox } from "../turns/outbox.ts"
import { isOnSale, Market } from "./market.ts"

const batchSize = 64
const leaseSeconds = 30
const usersPerRound = 500
// An id that comes and goes, as carts expire, is news to the same user once an hour.
const quietSeconds = 3600

interface Freed {
  readonly canonical: string
  readonly first_told: boolean
}

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
      const sql = yield* Sql
      const linkTo = (canonical: string) => `${config.webUrl}/?emoji_id=${encodeURIComponent(canonical)}`

      const tell = Effect.fnUntraced(function* ({ canonical, first_told }: Freed, lease: string) {
        const limit = first_told ? usersPerRound : 1
        // An id of a length that is held back is no news until it is on sale. By what is stored: it was freed by that, perhaps.
        const isNews = isOnSale(canonical, yield* market.storedParameters)
        // One more than is told now, to know whether somebody is left. Who only claims to have an address could not check
        // out: they are not written to, and are told with the others.
        const untold = isNews
          ? yield* sql.rows<{ user_id: string; email: string | null }>(
              (
                q,
              ) => q`select u.id as user_id, case when u.email_verified_at is not null then u.email end as email
                         from user_interest i
                         join app_user u on u.id = i.user_id and u.deactivated_at is null and u.deleted_at is null
                         left join interest_notice n on n.user_id = i.user_id and n.canonical = i.canonical
                        where i.canonical = ${canonical}
                          and coalesce(n.told_at < now() - make_interval(secs => ${quietSeconds}), true)
                        order by ${first_told ? q`` : q`u.email is not null and u.email_verified_at is null,`}
                              i.created_at, i.id limit ${limit + 1}`,
            )
          : []
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
        const parameter = JSON.stringify({
          canonical,
          lease,
          users: told.map(({ user_id }) => user_id),
          mail,
          done: untold.length <= limit,
          head_start_seconds: config.interestHeadStartSeconds,
        })
        // Safe to repeat: the first time takes the lease away.
        const [row] = yield* sql.rows<{ events: ReadonlyArray<ChannelPosition> }>(
          (q) => q`select tell_freed(${parameter}::text::jsonb) as events`,
        )
        publisher.moved(row?.events ?? [])
      })

      const round = Effect.gen(function* () {
        let handled = 0
        for (;;) {
          const lease = randomUUID()
          const freed = yield* sql.rows<Freed>(
            (q) => q`select canonical, first_told from take_freed(${lease}, ${batchSize}, ${leaseSeconds})`,
          )
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
