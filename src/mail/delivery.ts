import { Effect, Fiber, Layer, Schedule } from "effect"
import { AppConfig } from "../config/config.ts"
import { maxTries, Outbox, type OutboxMail } from "../turns/outbox.ts"
import { deliveredHere, isPhone } from "../turns/outbox-recipients.ts"
import type { DeliveryProvider } from "./delivery-provider.ts"
import { render } from "./mail-texts.ts"
import { twilioProvider } from "./sms.ts"
import { smtpProvider } from "./smtp.ts"

/**
 * The number of messages that are leased together. All of them are sent concurrently. If more were leased, some
 * messages would have to wait. Their lease could expire, and another process would send them too.
 */
const batchSize = 4
const pauseMs = 500
/**
 * While a message is being sent, its lease is renewed at this interval. The interval is much shorter than the
 * shortest lease.
 */
const renewLeaseEvery = "10 seconds"

/**
 * Sends the messages of the outbox through the configured providers. A message that no process can send counts as
 * sent and stays readable in the outbox. Every process may run this: each message is leased by one process, and every
 * further attempt has a longer lease.
 */
export const delivery = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* AppConfig
    const outbox = yield* Outbox
    const mail =
      config.smtpUrl === undefined ? undefined : yield* smtpProvider(config.smtpUrl, config.mailFrom)
    const { twilioAccount: account, twilioFrom: from, twilioToken: token, twilioUrl: url } = config
    const sms =
      account === undefined || token === undefined || from === undefined
        ? undefined
        : twilioProvider({ url, account, token, from })

    if (config.production && mail === undefined) {
      yield* Effect.logWarning("SMTP_URL is not set: mail is stored in the outbox and not sent")
    }

    /**
     * Renews the lease while the message is being sent, so that no other process sends the message, however slow the
     * server is.
     */
    const withLease = <A, E>(message: OutboxMail, sending: Effect.Effect<A, E>) =>
      Effect.scoped(
        outbox
          .hold(message.id)
          .pipe(
            Effect.ignore,
            Effect.delay(renewLeaseEvery),
            Effect.forever,
            Effect.interruptible,
            Effect.forkScoped,
            Effect.andThen(sending),
          ),
      )

    const send = (provider: DeliveryProvider, message: OutboxMail) =>
      withLease(message, provider.send({ id: message.id, to: message.to, ...render(message) })).pipe(
        Effect.andThen(outbox.sent(message.id)),
        Effect.catchTag("DeliveryFailed", ({ isPermanent, reason }) => {
          // Servers repeat the recipient's address in their responses. Logs must not contain personal data.
          const why = reason.replaceAll(message.to, "the recipient")
          const facts = { mail: message.id, kind: message.kind, tries: message.tries, reason: why }
          return isPermanent || message.tries >= maxTries(message.kind)
            ? Effect.andThen(Effect.logError("mail delivery abandoned", facts), outbox.giveUp(message.id))
            : Effect.logWarning("mail delivery failed, will retry", facts)
        }),
        // If sending were interrupted after the provider accepted the message, another process would send the message
        // again.
        Effect.uninterruptible,
      )

    const deliver = (message: OutboxMail) => {
      const provider = isPhone(message.to) ? sms : mail
      return provider === undefined ? outbox.sent(message.id) : send(provider, message)
    }

    const sendDue = Effect.gen(function* () {
      for (;;) {
        const messages = yield* outbox.take(batchSize)
        yield* Effect.forEach(messages, deliver, { concurrency: batchSize, discard: true })
        if (messages.length < batchSize) return
      }
    })
    const { mail: sendsMail, phones: sendsSms } = deliveredHere(config)
    const round = Effect.andThen(
      sendsMail || sendsSms ? sendDue : Effect.void,
      sendsMail && sendsSms ? Effect.void : outbox.keepDue,
    ).pipe(Effect.catchCause((cause) => Effect.logWarning("mail delivery round failed", cause)))

    // Shutdown waits for messages that are being sent, but for no longer than it waits for requests.
    yield* Effect.acquireRelease(
      Effect.forkDetach(round.pipe(Effect.repeat(Schedule.spaced(`${pauseMs} millis`)))),
      (rounds) =>
        Effect.interruptible(
          Fiber.interrupt(rounds).pipe(Effect.timeoutOption(`${config.drainSeconds} seconds`)),
        ),
    )
  }),
)
