import { Effect, Layer } from "effect"
import { sessionChannels } from "./accounts/live-channel-store.ts"
import { idChannels } from "./directory/live-channel-store.ts"
import type { ChannelKind } from "./live/channel-names.ts"
import { type ChannelState, ChannelStates } from "./live/channel-states.ts"
import { lootboxChannels } from "./lootboxes/live-channels.ts"
import { marketChannels } from "./market/live-channels.ts"
import { orderChannels } from "./orders/live-channels.ts"
import { transferChannels } from "./transfers/live-channels.ts"

/** Combines the channels of all subjects. If a channel kind has no state, this file does not compile. */
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
