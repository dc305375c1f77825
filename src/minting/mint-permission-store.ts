import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { Unavailable } from "../../schema/errors.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { Sql } from "../postgres/sql.ts"
import type { OutboxRow } from "../turns/outbox.ts"

export type MintOutcome =
  | { readonly outcome: "permitted" | "absent" | "forbidden" | "minted" | "in_transfer" }
  | { readonly outcome: "blocked"; readonly until: string }

/** Whether an id is minted, and until when its last mint permission is valid. */
export interface MintState {
  readonly minted: boolean
  /** When the last mint permission of the id expires. Null if none is valid now. */
  readonly until: string | null
}

/** Stores the time until which an id has a valid mint permission. */
export class MintPermissions extends Context.Service<
  MintPermissions,
  {
    /** Stores a permission and, in the same statement, the mail about it. `keep` is what the response contains. */
    note<Keep>(
      permission: {
        readonly canonical: string
        readonly ownerId: string
        readonly untilSeconds: number
        readonly mail: ReadonlyArray<OutboxRow>
      },
      keep: Keep,
    ): Effect.Effect<Written<WriteOutcome<{ readonly result: MintOutcome }, Keep>>, Unavailable>
  }
>()("directory/MintPermissions") {
  static readonly layer = Layer.effect(
    MintPermissions,
    Effect.gen(function* () {
      const sql = yield* Sql
      return MintPermissions.of({
        note: ({ canonical, mail, ownerId, untilSeconds }, keep) =>
          sql.write.rows(
            (q) => q`
              with done as materialized (
                select permit_mint(${canonical}, ${ownerId}::uuid, '{}', to_timestamp(${untilSeconds})) as result)
              select result, case when result->>'outcome' = 'permitted'
                                  then put_mail(${JSON.stringify(mail)}::text::jsonb)::text end as mailed from done`,
            { keep, when: (q) => q`effect.result->>'outcome' = 'permitted'` },
          ),
      })
    }),
  )
}
