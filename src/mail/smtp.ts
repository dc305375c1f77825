import { Effect, Redacted } from "effect"
import type { SendMailOptions } from "nodemailer"
import type { Config } from "../config/read-config.ts"
import { DeliveryFailed, type DeliveryProvider } from "./delivery-provider.ts"
import { SmtpConnection } from "./smtp-connection.ts"

/**
 * The maximum time for opening a connection, with the server's greeting and the start of TLS. Some servers delay the
 * greeting, for example Postfix's postscreen by six seconds.
 */
const openMs = 15_000
/** The maximum time until the server has accepted the recipient and the content of the mail was sent. */
const sendMs = 30_000
/**
 * The maximum time after that until the server acknowledges the mail. It is longer, because a server may filter a mail
 * before it acknowledges it. A mail that the server accepts after this time is sent twice.
 */
const acknowledgeMs = 60_000
/** An unused connection is closed after this time, usually before the server closes it. */
const idleMs = 5000

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

/**
 * Sends mail through the configured SMTP server. Each mail that is being sent has a connection, and connections are used
 * again. The caller limits how many mails are sent at the same time.
 */
export const smtpProvider = (url: Redacted.Redacted, from: Config["mailFrom"]) =>
  Effect.gen(function* () {
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const open = (): SmtpConnection => {
      const transport = createTransport(
        {
          url: Redacted.value(url),
          pool: true,
          maxConnections: 1,
          // A mail of which nothing was sent is sent again if the server has closed the connection in the meantime.
          maxRequeues: 1,
          idleTimeout: idleMs,
          connectionTimeout: openMs,
          greetingTimeout: openMs,
          socketTimeout: acknowledgeMs,
        } as never,
        { from },
      )
      return new SmtpConnection(transport, { sendMs, acknowledgeMs })
    }
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => ({ idle: [] as SmtpConnection[], all: new Set<SmtpConnection>() })),
      ({ all }) =>
        Effect.sync(() => {
          for (const connection of all) connection.abort()
        }),
    )
    const send = async (mail: SendMailOptions) => {
      const connection = connections.idle.pop() ?? open()
      connections.all.add(connection)
      try {
        await connection.send(mail)
      } finally {
        if (connection.isAborted) connections.all.delete(connection)
        else connections.idle.push(connection)
      }
    }
    const domain = /@([\w.-]+)/.exec(from)?.[1] ?? "localhost"
    const provider: DeliveryProvider = {
      send: ({ html, id, subject, text, to }) =>
        Effect.tryPromise({
          try: () =>
            send({
              to: { name: "", address: to },
              subject,
              text,
              html,
              messageId: `<mail-${id}@${domain}>`,
              disableFileAccess: true,
              disableUrlAccess: true,
            }),
          catch: toDeliveryFailed,
        }),
    }
    return provider
  })
