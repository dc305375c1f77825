import { type SubjectChannels, stateEntries } from "../live/channel-states.ts"

/**
 * Defines the states of the channels `emoji_id:{id}` and `emoji_ids`. The state of `emoji_ids` has the user's ids that were changed
 * last.
 *
 * The state of an `emoji_id` channel has its records. Wallets use this state for payments, so it must match the
 * channel's offset: both are read in the same statement.
 */
export const idChannels: SubjectChannels<"emoji_id" | "emoji_ids"> = {
  emoji_id: { expression: ({ key }, sql) => sql`select live_lookup(${key})` },
  emoji_ids: {
    expression: ({ key }, sql) =>
      sql`select coalesce(jsonb_agg(jsonb_build_object('emoji_id', e.canonical, 'version', e.version,
                   'updated_at', wire_time(e.updated_at)) order by e.updated_at desc, e.token_id desc), '[]')
            from (select * from emoji_id where owner_id = ${key}
                   order by updated_at desc, token_id desc limit ${stateEntries}) e`,
  },
}
