import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"
import type { OutboxRow } from "../turns/outbox.ts"

export type MintOutcome =
  | { readonly outcome: "permitted" | "absent" | "forbidden" | "minted" | "in_transfer" }
  | { readonly outcome: "blocked"; readonly until: string }

/** Stores the time until which an id has a valid mint permission. */
export class MintPermissions extends Context.Service<
  MintPermissions,
  {
    /** Stores a permission and, in the same statement, the mail about it. */
    note(permission: {
      readonly canonical: string
      readonly ownerId: string
      readonly untilSeconds: number
      readonly mail: ReadonlyArray<OutboxRow>
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
        note: ({ canonical, mail, ownerId, untilSeconds }) =>
          sql
            .rows<{ result: MintOutcome }>(
              (q) => q`
                with done as materialized (
                  select permit_mint(${canonical}, ${ownerId}::uuid, '{}', to_timestamp(${untilSeconds})) as result)
                select result, case when result->>'outcome' = 'permitted'
                                    then put_mail(${JSON.stringify(mail)}::text::jsonb)::text end as mailed from done`,
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
