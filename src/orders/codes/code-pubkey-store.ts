import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../../schema/errors.ts"
import { Sql } from "../../postgres/sql.ts"

const maxPubkeysPerCode = 100

/** Stores the public keys that may activate a code, and finds the order of an activation. */
export class CodePubkeys extends Context.Service<
  CodePubkeys,
  {
    /**
     * Adds a key, or does nothing if the code already has it. Returns false if the code already has the maximum number
     * of other keys.
     */
    add(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    /** Removes a key. Returns false if the code does not list the key. */
    remove(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    has(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    /** Finds the id of the order for which the user used the signed message with this digest. */
    findOrder(codeId: string, digest: string, userId: string): Effect.Effect<string | undefined, Unavailable>
  }
>()("directory/CodePubkeys") {
  static readonly layer = Layer.effect(
    CodePubkeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const some = (rows: ReadonlyArray<unknown>) => rows.length > 0
      return CodePubkeys.of({
        add: (codeId, pubkey) =>
          sql
            .rows<{ added: boolean }>(
              (q) => q`select put_code_pubkey(${codeId}, ${pubkey}, ${maxPubkeysPerCode}) as added`,
            )
            .pipe(Effect.map((rows) => rows[0]!.added)),
        remove: (codeId, pubkey) =>
          sql
            .rows(
              (q) => q`delete from code_pubkey where code_id = ${codeId} and pubkey = ${pubkey} returning 1`,
            )
            .pipe(Effect.map(some)),
        has: (codeId, pubkey) =>
          sql
            .rows((q) => q`select 1 from code_pubkey where code_id = ${codeId} and pubkey = ${pubkey}`)
            .pipe(Effect.map(some)),
        findOrder: (codeId, digest, userId) =>
          sql
            .rows<{ order_id: string }>(
              (q) => q`select order_id from code_activation
                        where code_id = ${codeId} and digest = ${digest} and user_id = ${userId}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.order_id)),
      })
    }),
  )
}
