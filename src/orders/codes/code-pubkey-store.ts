import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../../schema/errors.ts"
import { Sql } from "../../postgres/sql.ts"

const maxPubkeysPerCode = 100

/** Keys that let users draw ids with a code, and what was drawn with them. */
export class CodePubkeys extends Context.Service<
  CodePubkeys,
  {
    /** False when the code has as many keys as it may have. Added twice it stays one key. */
    add(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    /** False when the code does not list it. */
    remove(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    has(codeId: string, pubkey: string): Effect.Effect<boolean, Unavailable>
    /** The order this signed message was used for. */
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
