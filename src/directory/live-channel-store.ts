import type { SubjectChannels } from "../live/channel-states.ts"

/**
 * Defines the state of the channels `emoji_id:{id}`. Wallets use this state for payments, so it must match the
 * channel's offset: both are read in the same statement.
 */
export const idChannels: SubjectChannels<"emoji_id"> = {
  emoji_id: { expression: ({ key }, sql) => sql`select live_lookup(${key})` },
}
