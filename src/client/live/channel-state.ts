import type { DisplayOrder, DisplayTransferRequest, LiveLookupResult } from "../api-types.ts"
import type { Answer } from "../operation.ts"

export type LiveChannel =
  | "cart"
  | "transfers"
  | "lootboxes"
  | "session"
  | "interests"
  | "emoji_ids"
  | "market"
  | `order:${string}`
  | `transfer:${string}`
  | `emoji_id:${string}`

/** The type of the state of a channel. */
export type ChannelState<C extends LiveChannel> = C extends "cart"
  ? Answer<"GET /cart">
  : C extends `order:${string}`
    ? DisplayOrder
    : C extends "transfers"
      ? {
          readonly outgoing: ReadonlyArray<DisplayTransferRequest>
          readonly incoming: ReadonlyArray<DisplayTransferRequest>
        }
      : C extends `transfer:${string}`
        ? DisplayTransferRequest
        : C extends "lootboxes"
          ? Answer<"GET /lootboxes">["data"]
          : C extends "interests"
            ? Answer<"GET /user_interests">["data"]
            : C extends "emoji_ids"
              ? ReadonlyArray<{
                  readonly emoji_id: string
                  readonly version: number
                  readonly updated_at: string
                }>
              : C extends `emoji_id:${string}`
                ? LiveLookupResult
                : C extends "market"
                  ? Answer<"GET /emoji_id/recent">
                  : unknown
