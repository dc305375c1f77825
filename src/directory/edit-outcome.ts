import { Effect } from "effect"
import { maxRecordsPerId } from "../../schema/directory/edit-request.ts"
import { Conflict, Forbidden, fieldFault, NotFound } from "../../schema/errors.ts"
import { notRegisteredText } from "./lookup/answer.ts"
import type { EditOutcome } from "./record-store.ts"

export const idAbsent = () => new NotFound({ error: notRegisteredText })

export const writeForbidden = () =>
  new Forbidden({
    error:
      "Only the owner, an admin or a power role of the key's organization may change this id; the owner's API key needs userData:update.",
    details: { scope: "adminEmoji:write" },
  })

/** Turns every way an edit can fail into the failure that is answered. */
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
        error: `This entry is locked since ${outcome.at}.`,
        details: { locked_future_writes_at: outcome.at },
      })
    case "crowded":
      return yield* fieldFault("insert", "too_many", `An id has at most ${maxRecordsPerId} records.`)
    case "duplicate":
      return yield* fieldFault("insert", "uniqueness", `Already there: ${outcome.hashes.join(", ")}.`)
    case "unknown":
      return yield* fieldFault("delete", "unknown_hash", `No such record: ${outcome.hashes.join(", ")}.`)
  }
})
