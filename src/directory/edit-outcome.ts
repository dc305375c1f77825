import { Effect } from "effect"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import { Conflict, Forbidden, fieldFault, NotFound } from "../../schema/errors.ts"
import { notRegisteredText } from "./lookup/answer.ts"
import type { EditOutcome } from "./record-store.ts"

export const idAbsent = () => new NotFound({ error: notRegisteredText })

export const writeForbidden = () =>
  new Forbidden({
    error:
      "Only the owner, an admin or an organization power role can change this emoji id. API keys need userData:update.",
    details: { scope: "adminEmoji:write" },
  })

export const reservedTagText =
  "Records with the tags 0x0000 (registered pubkey) and 0x0003 (expiry) are set and deleted by the operator. They need the scope adminEmoji:updateSecureData."

/**
 * Fails with an API error if the edit was refused. Otherwise returns the outcome: `changed`, `unchanged` or `stale`.
 */
export const checkOutcome = Effect.fnUntraced(function* (outcome: EditOutcome) {
  switch (outcome.outcome) {
    case "changed":
    case "unchanged":
    case "stale":
      return outcome
    case "absent":
      return yield* idAbsent()
    case "forbidden":
      return yield* writeForbidden()
    case "locked":
      return yield* new Conflict({
        error: `This entry cannot be changed. It is locked since ${outcome.at}.`,
        details: { locked_future_writes_at: outcome.at },
      })
    case "crowded":
      return yield* fieldFault(
        "insert",
        "too_many",
        `An emoji id can have at most ${maxRecordsPerId} records.`,
      )
    case "duplicate":
      return yield* fieldFault(
        "insert",
        "uniqueness",
        `These records already exist: ${outcome.hashes.join(", ")}.`,
      )
    case "secured":
      return yield* fieldFault("delete", "reserved_tag", reservedTagText)
    case "unknown":
      return yield* fieldFault(
        "delete",
        "unknown_hash",
        `These records do not exist: ${outcome.hashes.join(", ")}.`,
      )
  }
})
