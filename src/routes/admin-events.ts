import { Effect, Schema } from "effect"
import { InvalidRequest } from "../../schema/errors.ts"
import { RecentEvents } from "../../schema/recent-event.ts"
import { IntText } from "../../schema/wire.ts"
import { route } from "../http/route.ts"
import { type Place, RecentEventLists } from "../store/recent-events.ts"

const shownEvents = 50
const Cursor = Schema.String.check(Schema.isMaxLength(1024))
const CursorFacts = Schema.Struct({
  at: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/)),
  channel: Schema.String,
  offset: Schema.Int,
})
const decodeCursor = Schema.decodeUnknownEffect(Schema.fromJsonString(CursorFacts))

const write = (place: Place): string => Buffer.from(JSON.stringify(place)).toString("base64url")

const read = (name: string, text: string | undefined) =>
  text === undefined
    ? Effect.succeed(undefined)
    : decodeCursor(Buffer.from(text, "base64url").toString()).pipe(
        Effect.mapError(
          () => new InvalidRequest({ error: `query: ${name}: expected a place an earlier answer named` }),
        ),
      )

const list = route({
  id: "listEvents",
  group: "admin",
  summary: "What happened lately on all channels, newest first; `before` and `after` go on from a place",
  method: "get",
  path: "/admin/events",
  auth: "JWT",
  scope: "domainEvent:read",
  query: {
    limit: Schema.optionalKey(IntText(1, 200)),
    kind: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(64))),
    before: Schema.optionalKey(Cursor),
    after: Schema.optionalKey(Cursor),
  },
  success: RecentEvents,
  errors: [],
  handler: ({ query }) =>
    Effect.gen(function* () {
      const limit = Number(query.limit ?? shownEvents)
      const before = yield* read("before", query.before)
      const after = yield* read("after", query.after)
      const found = yield* RecentEventLists.use((lists) =>
        lists.list({ kind: query.kind, before, after, limit }),
      )
      const newest = found[0]
      const oldest = found.length === limit ? found.at(-1) : undefined
      return {
        data: found.map(({ place: _, ...event }) => event),
        ...(oldest === undefined ? {} : { before: write(oldest.place) }),
        ...(newest === undefined
          ? query.after === undefined
            ? {}
            : { after: query.after }
          : { after: write(newest.place) }),
      }
    }),
})

export const adminEvents = [list] as const
