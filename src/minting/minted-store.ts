import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"

export type MintedOutcome =
  | {
      readonly outcome: "changed"
      readonly owner_id: string
      readonly token_id: number
      readonly events: ReadonlyArray<ChannelPosition>
    }
  | { readonly outcome: "other_token"; readonly token_id: number }
  | { readonly outcome: "unchanged" | "absent" | "in_transfer" }

/** Stores whether an id is minted as a token. */
export class MintedIds extends Context.Service<
  MintedIds,
  {
    set(
      canonical: string,
      minted: boolean,
      tokenId: number | undefined,
    ): Effect.Effect<MintedOutcome, Unavailable>
  }
>()("directory/MintedIds") {
  static readonly layer = Layer.effect(
    MintedIds,
    Effect.map(Sql, (sql) =>
      MintedIds.of({
        set: (canonical, minted, tokenId) =>
          sql
            .once<{ result: MintedOutcome }>(
              (q) => q`select set_minted(${canonical}, ${minted}, ${tokenId ?? null}::bigint) as result`,
            )
            .pipe(
              Effect.map(([row]): MintedOutcome => row?.result ?? { outcome: "absent" }),
              Effect.catchTag("SqlRefused", (refused) => Effect.die(refused)),
            ),
      }),
    ),
  )
}
