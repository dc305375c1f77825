import { Effect, Fiber, Layer, Schedule } from "effect"
import { AppConfig } from "../config/config.ts"
import { maxTries, Outbox, type OutboxMail } from "../turns/outbox.ts"
import { deliveredHere, isPhone } from "../turns/outbox-recipients.ts"
import type { DeliveryProvider } from "./delivery-provider.ts"
import { render } from "./mail-texts.ts"
import { twilioProvider } from "./sms.ts"
import { smtpProvider } from "./smtp.ts"

/** No more than are handed over at once: the lease of one that waits its turn here would run out, and another send it too. */
const batchSize = 4
const pauseMs = 500
/** Well within the shortest lease. */
const holdEvery = "10 seconds"

/**
 * Takes letters out of the outbox and hands them to whoever carries them. What no process carries stays readable in the
 * outbox and counts as sent. Every process may run this: letters are leased, and the lease grows with each try.
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
      yield* Effect.logWarning("SMTP_URL is not set: mail is kept and nobody receives it")
    }

    /** Nobody else takes the letter meanwhile, however long a server looks at it before it answers. */
    const holding = <A, E>(message: OutboxMail, handingOver: Effect.Effect<A, E>) =>
      Effect.scoped(
        outbox
          .hold(message.id)
          .pipe(
            Effect.ignore,
            Effect.delay(holdEvery),
            Effect.forever,
            Effect.interruptible,
            Effect.forkScoped,
            Effect.andThen(handingOver),
          ),
      )

    const send = (provider: DeliveryProvider, message: OutboxMail) =>
      holding(message, provider.send({ id: message.id, to: message.to, ...render(message) })).pipe(
        Effect.andThen(outbox.sent(message.id)),
        Effect.catchTag("NotCarried", ({ isLasting, reason }) => {
          // Servers name whom they refuse, and a log is nobody's address book.
          const why = reason.replaceAll(message.to, "the recipient")
          const facts = { mail: message.id, kind: message.kind, tries: message.tries, reason: why }
          return isLasting || message.tries >= maxTries(message.kind)
            ? Effect.andThen(Effect.logError("letter given up", facts), outbox.giveUp(message.id))
            : Effect.logWarning("letter not carried yet", facts)
        }),
        // What the carrier has taken must not be forgotten half-way, or the next process sends it again.
        Effect.uninterruptible,
      )

    const deliver = (message: OutboxMail) => {
      const provider = isPhone(message.to) ? sms : mail
      return provider === undefined ? outbox.sent(message.id) : send(provider, message)
    }

    const carryDue = Effect.gen(function* () {
      for (;;) {
        const messages = yield* outbox.take(batchSize)
        yield* Effect.forEach(messages, deliver, { concurrency: batchSize, discard: true })
        if (messages.length < batchSize) return
      }
    })
    const { mail: carriesMail, phones: carriesPhones } = deliveredHere(config)
    const round = Effect.andThen(
      carriesMail || carriesPhones ? carryDue : Effect.void,
      carriesMail && carriesPhones ? Effect.void : outbox.keepDue,
    ).pipe(Effect.catchCause((cause) => Effect.logWarning("delivery paused", cause)))

    // A stop waits for the letters that are being handed over, as long as it does for requests.
    yield* Effect.acquireRelease(
      Effect.forkDetach(round.pipe(Effect.repeat(Schedule.spaced(`${pauseMs} millis`)))),
      (rounds) =>
        Effect.interruptible(
          Fiber.interrupt(rounds).pipe(Effect.timeoutOption(`${config.drainSeconds} seconds`)),
        ),
    )
  }),
)
