import type { SubjectChannels } from "../live/channel-states.ts"

/**
 * The state of `emoji_id:{id}`. Wallets use it for payments, so it is read in the same statement as the channel's
 * offset.
 */
export const idChannels: SubjectChannels<"emoji_id"> = {
  emoji_id: { expression: ({ key }, sql) => sql`select live_lookup(${key})` },
}
