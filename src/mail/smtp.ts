import { Effect, Redacted } from "effect"
import type { Config } from "../config/config.ts"
import { DeliveryFailed, type DeliveryProvider } from "./delivery-provider.ts"

/**
 * The maximum time for opening a connection, and for the server's greeting. Some servers delay the greeting, for
 * example Postfix's postscreen by six seconds.
 */
const openMs = 30_000
/**
 * The maximum time to wait for a response of the server. It is long, because a server may filter a message before it
 * acknowledges it. After a timeout, the message would be sent again.
 */
const socketMs = 120_000
const maxConnections = 4

/**
 * If the server rejects one of these SMTP commands, the rejection concerns the message. If it rejects any other
 * command, the rejection concerns the configuration: the login, the sender or this server's address.
 */
const messageCommands = new Set(["RCPT TO", "DATA"])

const toDeliveryFailed = (error: unknown): DeliveryFailed => {
  const {
    command = "",
    message,
    responseCode = 0,
  } = error as { command?: string; message?: string; responseCode?: number }
  // A 5xx response to these commands is permanent. Authentication errors are an exception, because the operator can
  // correct them.
  const isPermanent =
    messageCommands.has(command) && responseCode >= 500 && ![530, 534, 535].includes(responseCode)
  return new DeliveryFailed({ reason: message ?? "unknown", isPermanent })
}

/** Sends mail through the configured SMTP server, over a small pool of connections. */
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
              messageId: `<mail-${id}@${domain}>`,
              disableFileAccess: true,
              disableUrlAccess: true,
            }),
          catch: toDeliveryFailed,
        }).pipe(Effect.asVoid),
    }
    return provider
  })
