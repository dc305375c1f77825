import { Context, Effect, Layer } from "effect"
import { parseEmojiId } from "../../schema/emoji-id.ts"
import { type EmojiListItem, emojiListItem, type Registration } from "../../schema/emoji-list-item.ts"
import type { Unavailable } from "../../schema/errors.ts"
import { tags } from "../../schema/record-tag.ts"
import type { Subject } from "../services/permissions.ts"
import { rhythmScore } from "../services/rhythm.ts"
import { Sql } from "./sql.ts"

interface OwnedRow extends Registration {
  readonly canonical: string
}

const maxListed = 5000

/** Ids of a user, or of the keys of an organization, oldest first. */
export class OwnedIds extends Context.Service<
  OwnedIds,
  { list(subject: Subject): Effect.Effect<ReadonlyArray<EmojiListItem>, Unavailable> }
>()("directory/OwnedIds") {
  static readonly layer = Layer.effect(
    OwnedIds,
    Effect.gen(function* () {
      const sql = yield* Sql
      return OwnedIds.of({
        list: ({ id, kind }) =>
          sql
            .rows<OwnedRow>((q) => {
              const whose =
                kind === "user"
                  ? q`e.owner_id = ${id}`
                  : q`exists (select 1 from pubkey k where k.pubkey = e.pubkey and k.organization_id = ${id})`
              return q`select e.canonical, e.generation, e.minted_at is not null as minted, e.token_id as "tokenId", e.version,
                              case when e.blocked_until > now() then e.blocked_until end as "blockedUntil",
                              (select r.data from record r where r.canonical = e.canonical and r.tag = ${tags.displayModifiers}
                                order by r.seq desc limit 1) as modifiers
                         from emoji_id e where ${whose} order by e.registered_at, e.canonical limit ${maxListed}`
            })
            .pipe(
              Effect.map((rows) =>
                rows.flatMap((row) => {
                  const emojiId = parseEmojiId(row.canonical)
                  return emojiId._tag === "EmojiId" ? [emojiListItem(emojiId, rhythmScore(emojiId), row)] : []
                }),
              ),
            ),
      })
    }),
  )
}
