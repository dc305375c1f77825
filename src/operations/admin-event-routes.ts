import { Effect, Schema } from "effect"
import { isDatabaseTime } from "../../schema/cursor.ts"
import { type InvalidRequest, invalidValue } from "../../schema/errors.ts"
import { RecentEvents } from "../../schema/operations/recent-event.ts"
import { IntText } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { type Place, RecentEventLists, type Sight } from "../turns/recent-events.ts"

const shownEvents = 50
const Cursor = Schema.String.check(Schema.isMaxLength(2048))
const Moment = Schema.String.check(Schema.makeFilter(isDatabaseTime))
const Channel = Schema.String.check(Schema.makeFilter((text: string) => !text.includes("\0")))
const decodePlace = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ at: Moment, channel: Channel, offset: Schema.Int })),
)
const decodeSight = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ at: Moment, below: Schema.Int, running: Schema.Array(Schema.Int) })),
)

const write = (cursor: Place | Sight): string => Buffer.from(JSON.stringify(cursor)).toString("base64url")

const read = <A, E>(
  name: string,
  text: string | undefined,
  decode: (json: string) => Effect.Effect<A, E>,
): Effect.Effect<A | undefined, InvalidRequest> =>
  text === undefined
    ? Effect.succeed(undefined)
    : decode(Buffer.from(text, "base64url").toString()).pipe(
        Effect.mapError(() => invalidValue("query", name, "expected a cursor from an earlier response")),
      )

const list = route({
  id: "listEvents",
  group: "admin",
  summary: "List recent events, newest first",
  description:
    "Returns events of all live channels for the operator's console. `kind` filters by the kind of channel, such as `order`. Pass `before` of a response to read older events, and `after` to poll for newer ones.",
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
      const before = yield* read("before", query.before, decodePlace)
      const after = yield* read("after", query.after, decodeSight)
      const { end, events, sight } = yield* RecentEventLists.use((lists) =>
        lists.list({ kind: query.kind, before, after, limit }),
      )
      return {
        data: events.map(({ event }) => event),
        ...(end === undefined ? {} : { before: write(end) }),
        // Without new events the cursor stays valid, so a client that polls gets the same answer.
        after: events.length === 0 ? (query.after ?? write(sight)) : write(sight),
      }
    }),
})

export const adminEvents = [list] as const
