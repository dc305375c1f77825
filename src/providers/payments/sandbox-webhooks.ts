import { Effect, Layer } from "effect"
import { OwnAddress } from "../../own-address.ts"
import { Sql } from "../../store/sql.ts"
import { Sandbox } from "./sandbox.ts"

const batchSize = 64
const concurrency = 8
const leaseSeconds = 10
const idleMs = 1000
const timeoutMs = 8000

interface Waiting {
  readonly id: number
  readonly payload: string
  readonly tries: number
}

/**
 * Sends the sandbox's webhooks to our own endpoint, over HTTP as a foreign provider would, until each is answered with
 * success. They wait in the database, so neither a kill here nor one of the receiver loses any.
 */
export const sandboxWebhooks = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* Sql
    const sandbox = yield* Sandbox
    const own = yield* OwnAddress
    let wake: (() => void) | undefined
    let pending = false
    sandbox.onWebhook(() => {
      pending = true
      wake?.()
    })

    // A webhook that failed comes back later and later; the lease is the first pause.
    const take = sql.rows<Waiting>(
      (q) => q`update sandbox_webhook w
                  set tries = w.tries + 1,
                      due_at = now() + make_interval(secs => ${leaseSeconds} * least(w.tries + 1, 30))
                 from (select id from sandbox_webhook where delivered_at is null and due_at <= now()
                        order by due_at limit ${batchSize} for update skip locked) d
                where w.id = d.id returning w.id, w.payload, w.tries`,
    )

    const post = (url: string, payload: string) =>
      Effect.tryPromise((signal) =>
        fetch(`${url}/webhooks/sandbox`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "sandbox-signature": sandbox.sign(Buffer.from(payload)),
          },
          body: payload,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        }).then(async (response) => {
          await response.arrayBuffer()
          return response.ok
        }),
      ).pipe(Effect.orElseSucceed(() => false))

    const deliver = Effect.fnUntraced(function* (url: string, { id, payload, tries }: Waiting) {
      const isDelivered = yield* post(url, payload)
      yield* sql
        .rows((q) =>
          isDelivered
            ? q`update sandbox_webhook set delivered_at = now() where id = ${id}`
            : q`update sandbox_webhook set due_at = now() + make_interval(secs => least(0.2 * power(2, ${tries}), 300))
                 where id = ${id} and delivered_at is null`,
        )
        .pipe(Effect.ignore)
    })

    const round = Effect.gen(function* () {
      const url = yield* own.url
      pending = false
      const waiting = yield* take
      yield* Effect.forEach(waiting, (one) => deliver(url, one), { concurrency, discard: true })
      if (waiting.length === batchSize) pending = true
    }).pipe(Effect.catchCause((cause) => Effect.logDebug("sandbox webhooks", cause)))

    const pause = Effect.callback<void>((resume) => {
      if (pending) return resume(Effect.void)
      const timer = setTimeout(() => resume(Effect.void), idleMs)
      wake = () => {
        clearTimeout(timer)
        resume(Effect.void)
      }
      return Effect.sync(() => clearTimeout(timer))
    })

    yield* Effect.forkScoped(Effect.forever(Effect.andThen(round, pause)))
  }),
)
