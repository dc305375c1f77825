import { Effect } from "effect"
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
import { operationKey } from "../turns/operation-key.ts"
import { Interests, interestSorts } from "./interest-store.ts"

const readId = (given: string): Effect.Effect<string, UnsupportedEmoji> => {
  const id = parseEmojiId(given)
  return id._tag === "EmojiId"
    ? Effect.succeed(id.canonical)
    : Effect.fail(new UnsupportedEmoji({ error: id.message }))
}

const list = route({
  id: "getInterestedUsers",
  group: "interests",
  summary: "List your interests in emoji ids",
  method: "get",
  path: "/user_interests",
  auth: "JWT",
  scope: "userInterest:read",
  query: pageQuery(interestSorts),
  success: ListOfUserInterest,
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const page = pageRequest(query, interestSorts)
      const { data, total } = yield* Interests.use((interests) => interests.list(principal.userId, page))
      return paged(data, page, total)
    }),
})

const register = route({
  id: "registerInterest",
  group: "interests",
  summary:
    "Register an interest, to be notified when an emoji id becomes available. An interest that you already have is 422 `uniqueness`",
  method: "post",
  path: "/user_interests",
  auth: "JWT",
  scope: "userInterest:write",
  limit: "write",
  body: NewUserInterestParameters,
  success: UserInterest,
  errors: [UnsupportedEmoji, Unprocessable],
  handler: ({ body, headers, principal }) =>
    Effect.flatMap(readId(body.emoji_id), (canonical) => {
      const id = operationKey(principal, headers, "registerInterest", canonical)
      return Interests.use((interests) => interests.add(id, principal.userId, canonical))
    }),
})

const show = route({
  id: "getUserInterestForYat",
  group: "interests",
  summary: "Get your interest in an emoji id",
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
  summary: "Delete your interest in an emoji id. Stops its notifications",
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
      Interests.use((interests) => interests.remove(principal.userId, canonical)),
    ),
})

export const interests = [list, register, show, remove] as const
