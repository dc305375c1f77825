import { Context, Effect, Layer } from "effect"
import { unchanged, type Written } from "../../actors/operation.ts"
import type { EditRequest } from "../../schema/directory/edit-request.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { findSingleValueKey } from "../../schema/directory/records/record-selection.ts"
import {
  Conflict,
  type Forbidden,
  fieldFault,
  type InvalidRequest,
  type NotFound,
  Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import { pubkeySigned } from "../keys/pubkeys.ts"
import { checkOutcome, idAbsent, writeForbidden } from "./edit-outcome.ts"
import { IdChanges } from "./id-changes.ts"
import { EmojiIds, type WriteFacts } from "./id-store.ts"
import { merkleRoot } from "./merkle.ts"
import { checkRecords, keepLastValues } from "./record-inputs.ts"
import { type EditResult, makeEditRecords, type RecordEdit } from "./record-store.ts"
import type { WritePermission } from "./write-permission.ts"

type EditProblem = Conflict | Forbidden | InvalidRequest | NotFound | Unprocessable | Unavailable

const maxAttempts = 5

const hexOf = (text: string): string => text.replace(/^0x/i, "").toLowerCase()

/** Returns the hashes of all records that the id will have after the edit. */
const hashesAfter = (facts: WriteFacts, edit: RecordEdit): ReadonlyArray<string> => {
  const replaced = new Set(edit.bypass ? [] : edit.insert.map((record) => findSingleValueKey(record)))
  const deleted = new Set(edit.delete)
  const kept = facts.records.filter(
    ({ hash, singleKey }) => !deleted.has(hash) && !(singleKey !== null && replaced.has(singleKey)),
  )
  return [...new Set([...kept.map(({ hash }) => hash), ...edit.insert.map(({ hash }) => hash)])]
}

const checkRoot = (facts: WriteFacts, edit: RecordEdit): Unprocessable | undefined => {
  const root = edit.merkleRoot ?? ""
  if (merkleRoot(hashesAfter(facts, edit)) !== root) {
    return fieldFault("merkle_root", "mismatch", "merkle_root does not match the records after this edit.")
  }
  if (facts.isCustodial) return undefined
  const isSigned =
    edit.signature !== undefined && pubkeySigned(facts.pubkey ?? "", Buffer.from(root, "hex"), edit.signature)
  return isSigned
    ? undefined
    : fieldFault("signature", "invalid", "merkle_root is not signed by the key that owns the emoji id.")
}

export class Records extends Context.Service<
  Records,
  {
    /**
     * Edits the records of an id. The result has a row if something was changed. Fails with 409 if the version of the id is not
     * `expected`. With a Merkle root, `expected` is ignored: the root is checked against the current version, and the
     * edit then expects that version.
     */
    edit(
      id: EmojiId,
      permission: WritePermission,
      request: EditRequest,
      expected?: number,
    ): Effect.Effect<Written<EditResult>, EditProblem>
  }
>()("directory/Records") {
  static readonly layer = Layer.effect(
    Records,
    Effect.gen(function* () {
      const ids = yield* EmojiIds
      const changes = yield* IdChanges
      const editRecords = yield* makeEditRecords

      /**
       * Checks the Merkle root of an edit, if it has one. The root covers all records of the id, so the edit is valid
       * only for the version of the id that was checked. The returned edit therefore expects that version.
       */
      const withRootChecked = Effect.fnUntraced(function* (edit: RecordEdit) {
        if (edit.merkleRoot === undefined) return edit
        const { canonical, permission } = edit
        const facts = yield* ids.findWriteFacts(canonical, permission.userId, permission.organizations)
        if (facts === undefined) return yield* idAbsent()
        if (!facts.mayWrite && !permission.isAdmin) return yield* writeForbidden()
        const fault = checkRoot(facts, edit)
        if (fault !== undefined) return yield* fault
        return { ...edit, expected: facts.version }
      })

      return Records.of({
        edit: Effect.fnUntraced(function* (id, permission, request, expected) {
          if (request.signature != null && request.merkle_root == null) {
            return yield* fieldFault("signature", "needs_root", "A signature requires merkle_root.")
          }
          const bypass = request.bypass_single_restrictions ?? false
          const records = yield* checkRecords(id, request.insert ?? [], "insert", permission)
          const edit: RecordEdit = {
            canonical: id.canonical,
            permission,
            insert: bypass ? records : keepLastValues(records),
            delete: [...new Set((request.delete ?? []).map(hexOf))],
            bypass,
            ...(expected !== undefined && { expected }),
            ...(request.merkle_root != null && { merkleRoot: hexOf(request.merkle_root) }),
            ...(request.signature != null && { signature: hexOf(request.signature) }),
          }
          for (let tries = expected === undefined ? maxAttempts : 1; tries > 0; tries--) {
            const checked = yield* withRootChecked(edit)
            const outcome = yield* checkOutcome(yield* changes.commit(id.canonical, editRecords(checked)))
            if (outcome.outcome === "changed") return outcome.written
            if (outcome.outcome === "unchanged") return unchanged<EditResult>({ rows: [], keep: undefined })
          }
          // With a version, the next attempt cannot succeed. Without one, it can: the 503 is not stored with the
          // Idempotency-Key.
          return yield* expected === undefined
            ? new Unavailable({
                error: "The emoji id was changed by other requests. Retry later.",
                retryAfterSeconds: 1,
              })
            : new Conflict({ error: "The emoji id was changed by another request. Read it again." })
        }),
      })
    }),
  )
}
