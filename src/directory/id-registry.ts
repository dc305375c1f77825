import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import { displayRecord } from "../../schema/directory/records/record.ts"
import {
  Conflict,
  fieldFault,
  type NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import { idAbsent } from "./edit-outcome.ts"
import { IdChanges } from "./id-changes.ts"
import { type DestroyedNow, EmojiIds, type IdResult, type RegisteredNow } from "./id-store.ts"
import { stillMintable } from "./mint-conflict.ts"

export interface RegisterRequest {
  readonly user_id?: string | null
  readonly email?: string | null
  readonly pubkey?: string | null
}

/** Registers an id for a user, or removes an id. Over HTTP, only admins may do this. */
export class IdRegistry extends Context.Service<
  IdRegistry,
  {
    register(
      id: EmojiId,
      request: RegisterRequest,
    ): Effect.Effect<Written<IdResult<RegisteredNow>>, Unprocessable | Unavailable>
    destroy(id: EmojiId): Effect.Effect<Written<IdResult<DestroyedNow>>, Conflict | NotFound | Unavailable>
  }
>()("directory/IdRegistry") {
  static readonly layer = Layer.effect(
    IdRegistry,
    Effect.gen(function* () {
      const ids = yield* EmojiIds
      const changes = yield* IdChanges

      return IdRegistry.of({
        register: Effect.fnUntraced(function* (id, { email, pubkey, user_id }) {
          if ((user_id == null) === (email == null)) {
            return yield* fieldFault("user_id", "one_of", "Send either user_id or email, not both.")
          }
          const { canonical } = id
          const registered = yield* changes.commit(
            canonical,
            ids.register({
              canonical,
              user_id,
              email,
              pubkey,
              display: displayRecord(canonical, id.display()),
            }),
          )
          switch (registered.outcome) {
            case "registered":
              return registered.written
            case "taken":
              return yield* fieldFault(
                "emoji_id",
                "uniqueness",
                "This emoji id is already registered or reserved.",
              )
            case "no_user":
              return yield* fieldFault(
                user_id == null ? "email" : "user_id",
                "unknown",
                "No active user has this user_id or email.",
              )
            case "unproven":
              return yield* fieldFault(
                "email",
                "unconfirmed",
                "The user has not confirmed this email address yet.",
              )
            case "no_pubkey":
              return yield* fieldFault("pubkey", "unknown", "This key does not belong to the user.")
          }
        }),

        destroy: Effect.fnUntraced(function* ({ canonical }) {
          const destroyed = yield* changes.commit(canonical, ids.destroy(canonical))
          switch (destroyed.outcome) {
            case "absent":
              return yield* idAbsent()
            case "in_transfer":
              return yield* new Conflict({
                error: "This emoji id has an active transfer. Delete the transfer first.",
              })
            case "minted":
              return yield* new Conflict({
                error:
                  "This emoji id is minted as a token. If the token was destroyed, record it first: PUT /emoji_id/{emoji_id}/minted with minted: false.",
                details: { minted: true },
              })
            case "mintable":
              return yield* stillMintable(canonical, destroyed.until)
            case "destroyed":
              return destroyed.written
          }
        }),
      })
    }),
  )
}
