import { Effect, Schema } from "effect"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import { DateTime, text } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { renderPlain } from "../mail/mail-texts.ts"
import { Outbox, type OutboxMail } from "../turns/outbox.ts"
import { checkDeveloper, developerHeaders } from "./dev-access.ts"

const OutboxEntry = Schema.Struct({
  to: Schema.String,
  kind: Schema.String,
  subject: Schema.String,
  text: Schema.String,
  code: Schema.optionalKey(Schema.String),
  link: Schema.optionalKey(Schema.String),
  at: DateTime,
}).annotate({ identifier: "DevLetter" })

const maxListed = 100

/**
 * Returns the recipient in the form in which the outbox stores it. An unencoded plus sign in a query is decoded as a
 * space, so the plus sign of a phone number is added again.
 */
const recipientOf = (typed: string): string => {
  const bare = typed.trim()
  return /^\d{7,15}$/.test(bare) ? `+${bare}` : bare.toLowerCase()
}

const show = (message: OutboxMail) => {
  const { code, link } = message.data
  const { subject, text } = renderPlain(message)
  return {
    to: message.to,
    kind: message.kind,
    subject,
    text,
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof link === "string" ? { link } : {}),
    at: message.at,
  }
}

const outbox = route({
  id: "devOutbox",
  group: "dev",
  summary: "List mail and SMS to one recipient, newest first. Not available in production",
  method: "get",
  path: "/dev/outbox",
  auth: "none",
  internal: true,
  sameOrigin: true,
  headers: developerHeaders,
  needsAddress: true,
  query: { to: text(320) },
  success: Schema.Array(OutboxEntry),
  errors: [Forbidden, NotFound],
  handler: ({ address, headers, query }) =>
    Effect.gen(function* () {
      yield* checkDeveloper(headers, address)
      const messages = yield* Outbox.use((box) => box.list(recipientOf(query.to), maxListed))
      return messages.map(show)
    }),
})

export const dev = [outbox] as const
