import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"

export type MintOutcome =
  | { readonly outcome: "permitted" | "absent" | "forbidden" | "minted" | "in_transfer" }
  | { readonly outcome: "blocked"; readonly until: string }

/** Stores the time until which an id has a valid mint permission. */
export class MintPermissions extends Context.Service<
  MintPermissions,
  {
    note(permission: {
      readonly canonical: string
      readonly ownerId: string
      readonly untilSeconds: number
    }): Effect.Effect<MintOutcome, Unavailable>
    /** Returns the time when the last mint permission of the id expires. Undefined if none is valid now. */
    findEnd(canonical: string): Effect.Effect<string | undefined, Unavailable>
  }
>()("directory/MintPermissions") {
  static readonly layer = Layer.effect(
    MintPermissions,
    Effect.gen(function* () {
      const sql = yield* Sql
      return MintPermissions.of({
        note: ({ canonical, ownerId, untilSeconds }) =>
          sql
            .rows<{ result: MintOutcome }>(
              (q) =>
                q`select permit_mint(${canonical}, ${ownerId}::uuid, '{}', to_timestamp(${untilSeconds})) as result`,
            )
            .pipe(Effect.map((rows) => rows[0]!.result)),
        findEnd: (canonical) =>
          sql
            .rows<{ until: string }>(
              (q) => q`select wire_time(mint_until) as until from emoji_id
                        where canonical = ${canonical} and mint_until > now()`,
            )
            .pipe(Effect.map((rows) => rows[0]?.until)),
      })
    }),
  )
}
