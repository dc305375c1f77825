import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import type { CodeKeyKind } from "../../../schema/orders/random-id-code.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Sql } from "../../postgres/sql.ts"

const maxPubkeysPerCode = 100

interface Listing {
  readonly outcome: "added" | "exists" | "too_many"
}

/** Stores the public keys that may activate a code, and finds the order of an activation. */
export class CodePubkeys extends Context.Service<
  CodePubkeys,
  {
    /**
     * Lists a key. `exists` means that the code lists the key already, with this kind or another one. `too_many` means
     * that the code has the maximum number of keys. `keep` is stored with the Idempotency-Key of the request.
     */
    add<Keep>(
      codeId: string,
      key: { readonly pubkey: string; readonly kind: CodeKeyKind },
      keep: Keep,
    ): Effect.Effect<Written<WriteOutcome<Listing, Keep>>, Unavailable>
    /** Removes a key of any kind. Returns no row if the code does not list the key. */
    remove(
      codeId: string,
      pubkey: string,
    ): Effect.Effect<Written<WriteOutcome<{ readonly pubkey: string }, undefined>>, Unavailable>
    /** The kind of a listed key. Undefined if the code does not list the key. */
    findKind(codeId: string, pubkey: string): Effect.Effect<CodeKeyKind | undefined, Unavailable>
    /** Finds the id of the order for which the user used the activation. */
    findOrder(
      codeId: string,
      activation: string,
      userId: string,
    ): Effect.Effect<string | undefined, Unavailable>
  }
>()("directory/CodePubkeys") {
  static readonly layer = Layer.effect(
    CodePubkeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      return CodePubkeys.of({
        add: (codeId, { kind, pubkey }, keep) => {
          // If the connection breaks, the statement is sent again. With the same run, it then returns `added` again.
          const run = randomUUID()
          return sql.write.rows(
            (q) =>
              q`select list_code_pubkey(${codeId}, ${pubkey}, ${kind}, ${run}, ${maxPubkeysPerCode}) as outcome`,
            { keep, when: (q) => q`effect.outcome = 'added'` },
          )
        },
        remove: (codeId, pubkey) =>
          sql.write.rows(
            (q) =>
              q`delete from code_pubkey where code_id = ${codeId} and pubkey = ${pubkey} returning pubkey`,
          ),
        findKind: (codeId, pubkey) =>
          sql
            .rows<{ kind: CodeKeyKind }>(
              (q) => q`select kind from code_pubkey where code_id = ${codeId} and pubkey = ${pubkey}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.kind)),
        findOrder: (codeId, activation, userId) =>
          sql
            .rows<{ order_id: string }>(
              (q) => q`select order_id from code_activation
                        where code_id = ${codeId} and digest = ${activation} and user_id = ${userId}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.order_id)),
      })
    }),
  )
}
