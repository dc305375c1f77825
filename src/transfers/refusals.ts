import { maxResends, maxWrongTries, type Refusal } from "../../machines/transfers/refusal.ts"
import { Conflict, EventRefused, Forbidden, fieldFault, TooManyRequests } from "../../schema/errors.ts"
import type { TransferContext } from "../../schema/transfers/transfer-snapshot.ts"

export const invalidCode = (code: string, message: string) => fieldFault("code", code, message)

/** Anyone can register any address. So transfers to an address are shown only to accounts that have confirmed it. */
export const unconfirmed = (what: string) =>
  new Forbidden({
    error: `${what} Confirm the address first: open the link that we mailed to it, or request a new link with POST /auth/magic_link.`,
    details: { email_unconfirmed: true },
  })

export const keyRemoved = () =>
  new Conflict({
    error:
      "The recipient no longer has the key that this transfer was sent to. Delete the transfer and create a new one.",
  })

/**
 * The error if the sender's account is not active. The account may have been deactivated because of this transfer, so
 * only an administrator can transfer the id.
 */
export const senderInactive = () =>
  new Conflict({ error: "The sender's account is not active. Only an administrator can transfer this id." })

/** Converts the reason for which the machine refuses a code, or a request for a new code, to an API error. */
export const toProblem = (refused: Refusal, { expiresAt }: TransferContext) => {
  switch (refused.reason) {
    case "transfer_expired":
      return new EventRefused({
        error: `The transfer expired at ${expiresAt}.`,
        details: { state: "Expired", allowed: [] },
      })
    case "too_many_tries":
      return invalidCode(
        "too_many_tries",
        `A wrong code was entered ${maxWrongTries} times. Request a new code.`,
      )
    case "code_expired":
      return invalidCode("expired", "This code has expired. Request a new code.")
    case "too_many_resends":
      return new TooManyRequests({
        error: `A code can be sent again at most ${maxResends} times. Delete the transfer and create a new one.`,
        retryAfterSeconds: "never",
      })
    case "resend_too_early": {
      const retryAfterSeconds = Math.ceil(refused.waitMs / 1000)
      return new TooManyRequests({
        error: `A code was sent less than a minute ago. Try again in ${retryAfterSeconds} seconds.`,
        retryAfterSeconds,
      })
    }
  }
}
