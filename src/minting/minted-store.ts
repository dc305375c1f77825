import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { type ListedId, toWrittenId, type WrittenId } from "../directory/id-store.ts"
import { Sql } from "../postgres/sql.ts"

export type SetMinted =
  | {
      readonly outcome: "changed"
      readonly listed: ListedId
      readonly owner_id: string
      readonly token_id: number
      readonly events: ReadonlyArray<ChannelPosition>
    }
  | { readonly outcome: "unchanged"; readonly listed: ListedId }
export type MintedOutcome =
  | SetMinted
  | { readonly outcome: "other_token"; readonly token_id: number }
  | { readonly outcome: "absent" | "in_transfer" }

/** Stores whether an id is minted as a token. */
export class MintedIds extends Context.Service<
  MintedIds,
  {
    set(
      canonical: string,
      minted: boolean,
      tokenId: number | undefined,
    ): Effect.Effect<WrittenId<MintedOutcome>, Unavailable>
  }
>()("directory/MintedIds") {
  static readonly layer = Layer.effect(
    MintedIds,
    Effect.map(Sql, (sql) =>
      MintedIds.of({
        set: (canonical, minted, tokenId) =>
          sql.write
            .once<{ result: MintedOutcome }>(
              (q) => q`select set_minted(${canonical}, ${minted}, ${tokenId ?? null}::bigint) as result`,
              { when: (q) => q`effect.result->>'outcome' = 'changed'` },
            )
            .pipe(Effect.map(toWrittenId), Effect.catchTag("SqlRefused", Effect.die)),
      }),
    ),
  )
}
