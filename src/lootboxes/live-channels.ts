import { Effect } from "effect"
import { newestFirst, type SubjectChannels } from "../live/channel-states.ts"
import { LootboxLists } from "./lootbox-store.ts"
import { LootboxViews } from "./lootbox-view.ts"

/** Reads the state of the channel `lootboxes`: the newest lootboxes of the user. */
export const lootboxChannels = Effect.gen(function* () {
  const lists = yield* LootboxLists
  const views = yield* LootboxViews
  const channels: SubjectChannels<"lootboxes"> = {
    lootboxes: {
      view: Effect.fnUntraced(function* ({ key }) {
        const { rows } = yield* lists.list({ ownerId: key }, newestFirst)
        return yield* views.show({ userId: key, scopes: new Set() }, rows)
      }),
    },
  }
  return channels
})
