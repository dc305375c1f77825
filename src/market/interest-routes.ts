import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { NotFound, Unprocessable, UnsupportedEmoji } from "../../schema/errors.ts"
import {
  ListOfUserInterest,
  NewUserInterestParameters,
  UserInterest,
} from "../../schema/market/user-interest.ts"
import { paged, pageQuery, pageRequest } from "../../schema/paging.ts"
import { text } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { type InterestOutcome, Interests, interestList } from "./interest-store.ts"

const readId = (given: string): Effect.Effect<string, UnsupportedEmoji> => {
  const id = parseEmojiId(given)
  return id._tag === "EmojiId"
    ? Effect.succeed(id.canonical)
    : Effect.fail(
        new UnsupportedEmoji({
          error: id.message,
          fields: { emoji_id: [{ code: id.code, message: id.message }] },
        }),
      )
}

const interestOf = ({ rows }: InterestOutcome): UserInterest => rows[0]!

const list = route({
  id: "getInterestedUsers",
  group: "interests",
  summary: "List your interests in emoji ids",
  description:
    "An interest is a request to be notified when an id becomes available. The live channel `interests` reports it at once.",
  method: "get",
  path: "/user_interests",
  auth: "JWT",
  scope: "userInterest:read",
  query: pageQuery(interestList),
  success: ListOfUserInterest,
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(interestList, query)
      const found = yield* Interests.use((interests) => interests.list(principal.userId, page))
      return paged(interestList, page, found, found.rows)
    }),
})

const register = route({
  id: "registerInterest",
  group: "interests",
  summary: "Register an interest in an emoji id",
  description:
    "You get a mail and a live event when the id becomes available. An interest that you already have is 422 `uniqueness`.",
  method: "post",
  path: "/user_interests",
  auth: "JWT",
  scope: "userInterest:write",
  limit: "write",
  body: NewUserInterestParameters,
  success: UserInterest,
  errors: [UnsupportedEmoji, Unprocessable],
  handler: ({ body, principal }) =>
    Effect.flatMap(readId(body.emoji_id), (canonical) =>
      atMostOnce(Interests.use((interests) => interests.add(principal.userId, canonical))),
    ).pipe(Effect.map(interestOf)),
})

const show = route({
  id: "getUserInterestForYat",
  group: "interests",
  summary: "Get your interest in an emoji id",
  description: "404 if you have no interest in this id.",
  method: "get",
  path: "/user_interests/:emoji_id",
  auth: "JWT",
  scope: "userInterest:read",
  params: { emoji_id: text(200) },
  success: UserInterest,
  errors: [UnsupportedEmoji, NotFound],
  handler: ({ params, principal }) =>
    Effect.flatMap(readId(params.emoji_id), (canonical) =>
      Interests.use((interests) => interests.get(principal.userId, canonical)),
    ),
})

const remove = route({
  id: "deleteUserInterest",
  group: "interests",
  summary: "Delete your interest in an emoji id",
  description: "Stops its notifications.",
  method: "del",
  path: "/user_interests/:emoji_id",
  auth: "JWT",
  scope: "userInterest:delete",
  limit: "write",
  params: { emoji_id: text(200) },
  success: UserInterest,
  errors: [UnsupportedEmoji, NotFound],
  handler: ({ params, principal }) =>
    Effect.flatMap(readId(params.emoji_id), (canonical) =>
      atMostOnce(Interests.use((interests) => interests.remove(principal.userId, canonical))),
    ).pipe(Effect.map(interestOf)),
})

export const interests = [list, register, show, remove] as const
