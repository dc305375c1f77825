import { Effect } from "effect"
import { newestFirst, type SubjectChannels } from "../live/channel-states.ts"
import { Interests } from "./interest-store.ts"
import { Storefront } from "./storefront.ts"

/** Defines the states of the channels `interests` and `market`. */
export const marketChannels = Effect.gen(function* () {
  const interests = yield* Interests
  const storefront = yield* Storefront
  const channels: SubjectChannels<"interests" | "market"> = {
    interests: { view: ({ key }) => Effect.map(interests.list(key, newestFirst), ({ rows }) => rows) },
    market: { view: () => Effect.map(storefront.recent, (result) => ({ result })) },
  }
  return channels
})
