import { Effect, Layer } from "effect"
import { sessionChannels } from "./accounts/sessions/session-channel-store.ts"
import { idChannels } from "./directory/lookup/id-channel-store.ts"
import { type ChannelState, ChannelStates } from "./live/channel-states.ts"
import type { ChannelKind } from "./live/channels.ts"
import { lootboxChannels } from "./lootboxes/live.ts"
import { marketChannels } from "./market/live.ts"
import { orderChannels } from "./orders/live.ts"
import { transferChannels } from "./transfers/live.ts"

/** Joins the channels of all subjects. A kind of channel without a state does not compile. */
export const channelStates = Layer.effect(
  ChannelStates,
  Effect.gen(function* () {
    const states: Readonly<Record<ChannelKind, ChannelState>> = {
      ...(yield* orderChannels),
      ...(yield* transferChannels),
      ...(yield* lootboxChannels),
      ...(yield* marketChannels),
      ...sessionChannels,
      ...idChannels,
    }
    return ChannelStates.of({ of: (kind) => states[kind] })
  }),
)
