import { Effect, Layer } from "effect"
import { OwnAddress } from "../../config/own-address.ts"
import { AppConfig } from "../../config/read-config.ts"
import { Sandbox } from "./sandbox.ts"
import { makeSandboxWebhookStore, type Webhook } from "./sandbox-webhook-store.ts"

const batchSize = 64
const concurrency = 8
const pauseMs = 1000
const timeoutMs = 8000

/**
 * Sends the webhooks of the sandbox to this service's own endpoint over HTTP, as an external provider does. A webhook
 * is repeated until it succeeds. The webhooks are stored in the database, so they survive a crash of sender or
 * receiver.
 */
export const sandboxWebhooks = Layer.effectDiscard(
  Effect.gen(function* () {
    // If test payments are disabled, the endpoint does not exist, and stored webhooks must not mark an order as paid.
    if (!(yield* AppConfig).takesTestPayments) return
    const store = yield* makeSandboxWebhookStore
    const sandbox = yield* Sandbox
    const own = yield* OwnAddress
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

    const send = Effect.fnUntraced(function* (webhooks: ReadonlyArray<Webhook>) {
      const url = yield* own.url
      const outcomes = yield* Effect.forEach(webhooks, ({ payload }) => post(url, payload), { concurrency })
      const delivered = webhooks.filter((_, i) => outcomes[i]).map(({ id }) => id)
      if (delivered.length > 0) yield* store.markDelivered(delivered)
    })

    const round = Effect.gen(function* () {
      for (;;) {
        const waiting = yield* store.take(batchSize)
        yield* send(waiting)
        if (waiting.length < batchSize) return
      }
    }).pipe(Effect.catchCause((cause) => Effect.logDebug("sandbox webhook delivery failed", cause)))

    sandbox.onWebhooks((webhooks) => send(webhooks).pipe(Effect.ignore))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pauseMs), round)))
  }),
)
