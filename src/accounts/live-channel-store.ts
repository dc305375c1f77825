import { type SubjectChannels, stateEntries } from "../live/channel-states.ts"

/** Reads the state of the channel `session`: the user's newest open sessions, at most `stateEntries`, newest first. */
export const sessionChannels: SubjectChannels<"session"> = {
  session: {
    expression: ({ key }, sql) =>
      sql`select coalesce(jsonb_agg(jsonb_build_object('id', e.id, 'status', e.status,
                   'created_at', wire_time(e.created_at)) order by e.created_at desc), '[]')
            from (select * from entity where kind = 'session' and owner_id = ${key}
                     and status not in ('Revoked', 'Expired')
                   order by created_at desc limit ${stateEntries}) e`,
  },
}
