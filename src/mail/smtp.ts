import { Effect, Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { DeliveryFailed, type DeliveryProvider } from "./delivery-provider.ts"

/** Until a server has greeted and speaks TLS. Some make senders wait, to see who does: Postfix's postscreen for six seconds. */
const openMs = 30_000
/** Filters look at a letter before it is acknowledged. Who gives up on them sends it again, and again. */
const socketMs = 120_000
const maxConnections = 4

/** What a server may refuse about a letter. All else is about us: the login, the sender, the address we come from. */
const aboutLetter = new Set(["RCPT TO", "DATA"])

const toNotCarried = (error: unknown): DeliveryFailed => {
  const {
    command = "",
    message,
    responseCode = 0,
  } = error as { command?: string; message?: string; responseCode?: number }
  // Servers answer 5xx for what will not change by waiting, except by an operator who mends it.
  const isLasting = aboutLetter.has(command) && responseCode >= 500 && ![530, 534, 535].includes(responseCode)
  return new DeliveryFailed({ reason: message ?? "unknown", isLasting })
}

/** Mail through the configured SMTP server, over a small pool of connections. */
export const smtpProvider = (url: Redacted.Redacted, from: Config["mailFrom"]) =>
  Effect.gen(function* () {
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const transport = yield* Effect.acquireRelease(
      Effect.sync(() =>
        createTransport(
          {
            url: Redacted.value(url),
            pool: true,
            maxConnections,
            connectionTimeout: openMs,
            greetingTimeout: openMs,
            socketTimeout: socketMs,
          } as never,
          { from },
        ),
      ),
      (open) => Effect.sync(() => open.close()),
    )
    const domain = /@([\w.-]+)/.exec(from)?.[1] ?? "localhost"
    const provider: DeliveryProvider = {
      send: ({ html, id, subject, text, to }) =>
        Effect.tryPromise({
          try: () =>
            transport.sendMail({
              to: { name: "", address: to },
              subject,
              text,
              html,
              messageId: `<letter-${id}@${domain}>`,
              disableFileAccess: true,
              disableUrlAccess: true,
            }),
          catch: toNotCarried,
        }).pipe(Effect.asVoid),
    }
    return provider
  })
