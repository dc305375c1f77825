import { Schema } from "effect"
import { DateTime, Int, Json, Uuid, words } from "../wire-format.ts"

interface EventFacts {
  /** The text for people. */
  readonly text: string
  /**
   * How many entries of this event a user's security log gets within a day. Further events are only counted. Undefined
   * if the event is written to the operator's log only.
   */
  readonly most?: number
  /** The event is a failure or a lock. Its log line has the level Warn. */
  readonly isFailure?: true
  /**
   * The response to the request does not wait for the entry. Otherwise a caller without a login would notice by the
   * response time whether the account exists.
   */
  readonly isBackground?: true
}

/** For events that a caller without a login can cause. */
const fewEntries = 10
/** For events that require a login. */
const manyEntries = 200

const shown = (text: string): EventFacts => ({ text, most: manyEntries })
const failure = (text: string): EventFacts => ({
  text,
  most: fewEntries,
  isFailure: true,
  isBackground: true,
})
const requested = (text: string): EventFacts => ({ text, most: fewEntries, isBackground: true })
const forOperators = (text: string): EventFacts => ({ text })

/**
 * The security events. Operators search their logs for these names, so a name never changes. docs/operating.md
 * describes each of them.
 */
export const securityEvents = {
  "login.succeeded": shown("Signed in"),
  "login.code_required": shown("Correct password or link; a two-factor code is still required"),
  "login.failed": failure("Sign-in with a wrong password"),
  "login.locked": failure("Sign-in locked after too many failed sign-ins"),
  "two_factor.failed": failure("Wrong two-factor code"),
  "two_factor.locked": failure("Two-factor codes locked after too many wrong codes"),
  "two_factor.enabled": shown("Two-factor authentication enabled"),
  "two_factor.disabled": shown("Two-factor authentication disabled"),
  "password.changed": shown("Password changed"),
  "password.reset_requested": requested("Password reset requested"),
  "password.reset": shown("Password reset with a mailed link"),
  "email.changed": shown("Email address changed"),
  "credentials.discarded": shown("Password, sessions and keys removed by the owner of the email address"),
  "api_key.created": shown("API key created"),
  "api_key.deleted": shown("API key deleted"),
  "pubkey.added": shown("Public key added"),
  "wallet.added": shown("Wallet linked"),
  "role.changed": shown("Role changed"),
  "account.activated": shown("Account activated"),
  "account.deactivated": shown("Account deactivated"),
  "account.deleted": forOperators("Account deleted"),
  "session.ended": shown("Session ended"),
  "sessions.ended": shown("All sessions ended"),
  "application.authorized": shown("Application got access to an emoji id"),
  "application.revoked": shown("Access of an application ended"),
  "mint.signed": shown("Mint signature created"),
  "mint.recorded": shown("Emoji id recorded as minted by an administrator"),
  "mint.removed": shown("Token of an emoji id recorded as destroyed by an administrator"),
  "transfer.forced": shown("Transfer started by an administrator"),
  "organization.role_changed": shown("Role in an organization changed"),
  "organization.left": shown("Removed from an organization"),
  "organization.return_link_changed": shown("Return link of an organization changed"),
  "organization.fees_changed": forOperators("Fees of an organization changed"),
  "order.refunded": forOperators("Order refunded"),
  "order.refund_overridden": forOperators("Refund booked by hand"),
  "order.payment_overridden": forOperators("Payment booked by hand"),
  "order.cash_booked": forOperators("Order paid in cash"),
} as const satisfies Record<string, EventFacts>

export type SecurityEventName = keyof typeof securityEvents
export const securityEventNames = Object.keys(securityEvents) as ReadonlyArray<SecurityEventName>
export const factsOf = (name: SecurityEventName): EventFacts => securityEvents[name]

/**
 * Who caused an event: the user (`self`), a caller without a login (`anonymous`), another user such as an
 * administrator (`administrator`), the command line (`operator`), or the service itself (`service`).
 */
export const EventActor = words("EventActor", [
  "self",
  "anonymous",
  "administrator",
  "operator",
  "service",
] as const)

/**
 * One entry of a user's security log. `count` is above 1 if the event happened very often within a day; then `last_at`
 * is the time of the newest. `actor_id`, and the address and user agent of other people, are shown to administrators
 * only.
 */
export const SecurityLogEntry = Schema.Struct({
  id: Uuid,
  event: Schema.Literals(securityEventNames),
  text: Schema.String,
  created_at: DateTime,
  last_at: DateTime,
  count: Int,
  actor: EventActor,
  actor_id: Schema.optionalKey(Uuid),
  address: Schema.optionalKey(Schema.String),
  user_agent: Schema.optionalKey(Schema.String),
  details: Schema.Record(Schema.String, Json),
}).annotate({ identifier: "SecurityLogEntry" })
export type SecurityLogEntry = typeof SecurityLogEntry.Type
