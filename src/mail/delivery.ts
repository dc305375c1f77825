import { Effect, Fiber, Latch, Layer, Schedule } from "effect"
import { AppConfig } from "../config/read-config.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { Metrics } from "../telemetry/metrics.ts"
import { maxTries, Outbox, type OutboxMail } from "../turns/outbox.ts"
import { deliveredHere, isPhone } from "../turns/outbox-recipients.ts"
import { deliveryAges, makeDeliveryCounts } from "./delivery-counts.ts"
import { DeliveryFailed, type DeliveryProvider } from "./delivery-provider.ts"
import { render } from "./mail-texts.ts"
import { Slots } from "./slots.ts"
import { twilioProvider } from "./sms.ts"
import { smtpProvider } from "./smtp.ts"

const pauseMs = 500
/**
 * While a message is being sent, its lease is renewed at this interval. The interval is shorter than a third of the
 * lease.
 */
const renewLeaseEvery = "8 seconds"
/**
 * A message that the provider has accepted is marked as sent again and again, at this interval and this many times, if
 * the database cannot be reached. A message that is not marked is sent twice.
 */
const markSent = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(60)])

/**
 * Sends the messages of the outbox through the configured providers. A message that no process can send counts as
 * sent and stays readable in the outbox. Every process may run this: each message is leased by one process. Messages are
 * sent independently of each other: a slot that becomes free takes the next message that is due.
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

    const slots = new Slots()
    const metrics = yield* Metrics
    const count = makeDeliveryCounts(metrics)
    const ages = deliveryAges(metrics)
    const clock = yield* DatabaseClock
    metrics.gauge("outbox_sending", "Messages that are being sent now", () => slots.busy)

    /**
     * Renews the lease while the message is being sent, so that no other process sends the message, however slow the
     * server is.
     */
    const withLease = <A, E>(message: OutboxMail, sending: Effect.Effect<A, E>) =>
      Effect.scoped(
        outbox
          .hold(message)
          .pipe(
            Effect.ignore,
            Effect.delay(renewLeaseEvery),
            Effect.forever,
            Effect.interruptible,
            Effect.forkScoped,
            Effect.andThen(sending),
          ),
      )

    const failed = (message: OutboxMail, isPermanent: boolean, reason: string) => {
      const { id, kind, to, tries } = message
      // Servers repeat the recipient's address in their responses. Logs must not contain personal data.
      const facts = { mail: id, kind, tries, reason: reason.replaceAll(to, "the recipient") }
      const isLast = isPermanent || tries >= maxTries(kind)
      count(isLast ? "abandoned" : "retried")
      return isLast
        ? Effect.andThen(Effect.logError("mail delivery abandoned", facts), outbox.giveUp(id))
        : Effect.andThen(
            Effect.logWarning("mail delivery failed, will retry", facts),
            outbox.retryLater(message),
          )
    }

    /** A message that cannot be rendered now cannot be rendered later either. */
    const rendered = (message: OutboxMail) =>
      Effect.try({
        try: () => render(message),
        catch: (error) =>
          new DeliveryFailed({ isPermanent: true, reason: `the message cannot be rendered: ${error}` }),
      })

    const send = (provider: DeliveryProvider, message: OutboxMail) => {
      const { id, to } = message
      return withLease(
        message,
        rendered(message).pipe(
          Effect.flatMap((content) => provider.send({ id, to, ...content })),
          Effect.tap(() =>
            Effect.sync(() => {
              count("delivered")
              ages.observe(Math.max(0, (clock.now() - Date.parse(message.at)) / 1000))
            }),
          ),
          Effect.andThen(Effect.retry(outbox.sent(id), markSent)),
          Effect.catchTag("DeliveryFailed", ({ isPermanent, reason }) =>
            failed(message, isPermanent, reason),
          ),
        ),
      )
    }

    const wake = yield* Latch.make()
    const deliver = (message: OutboxMail) => {
      const provider = isPhone(message.to) ? sms : mail
      slots.add(message)
      return (provider === undefined ? outbox.sent(message.id) : send(provider, message)).pipe(
        Effect.catchCause((cause) => Effect.logWarning("mail delivery failed", cause)),
        Effect.andThen(
          Effect.sync(() => {
            slots.remove(message)
            wake.openUnsafe()
          }),
        ),
        // If sending were interrupted after the provider accepted the message, another process would send the message
        // again.
        Effect.uninterruptible,
        Effect.forkDetach,
      )
    }

    const sendDue = Effect.suspend(() =>
      slots.free.total === 0
        ? Effect.void
        : Effect.flatMap(outbox.take(slots.free, slots.ids), Effect.forEach(deliver, { discard: true })),
    )
    const { mail: sendsMail, phones: sendsSms } = deliveredHere(config)
    const round = Effect.andThen(
      sendsMail || sendsSms ? sendDue : Effect.void,
      sendsMail && sendsSms ? Effect.void : outbox.keepDue,
    ).pipe(
      Effect.catchCause((cause) => Effect.logWarning("mail delivery round failed", cause)),
      Effect.uninterruptible,
    )
    // The latch is closed before the round, so that a slot that becomes free during the round is noticed.
    const rounds = wake.close.pipe(
      Effect.andThen(round),
      Effect.andThen(Effect.timeoutOption(wake.await, `${pauseMs} millis`)),
      Effect.forever,
    )
    const sendingEnds = Effect.suspend(() => (slots.busy === 0 ? Effect.void : wake.await)).pipe(
      Effect.andThen(wake.close),
      Effect.repeat({ while: () => slots.busy > 0 }),
    )

    // Shutdown waits for messages that are being sent, but for no longer than it waits for requests.
    yield* Effect.acquireRelease(Effect.forkDetach(rounds), (running) =>
      Effect.interruptible(
        Fiber.interrupt(running).pipe(
          Effect.andThen(sendingEnds),
          Effect.timeoutOption(`${config.drainSeconds} seconds`),
        ),
      ),
    )
  }),
)
