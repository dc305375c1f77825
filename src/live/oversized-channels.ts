import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { AppConfig } from "../config/read-config.ts"

/**
 * The channels that may have more events than the limit per channel. A channel is added each time its events increase by an
 * eighth of the limit, not with each event: the offsets of most channels are higher than their number of events, because deleted
 * channels do not begin at 0 again. The list is in memory only. A channel without further events shrinks when its
 * events reach the maximum age.
 */
export class OversizedChannels extends Context.Service<
  OversizedChannels,
  {
    placed(position: ChannelPosition): void
    /** Returns the channels that were added since the last call, and clears the list. */
    take(): ReadonlyArray<string>
  }
>()("directory/OversizedChannels") {
  static readonly layer = Layer.effect(
    OversizedChannels,
    Effect.map(AppConfig, ({ eventKeepPerChannel }) => {
      let oversized = new Set<string>()
      const step = Math.max(1, eventKeepPerChannel >> 3)
      return OversizedChannels.of({
        placed: ({ channel, offset }) => {
          if (offset > eventKeepPerChannel && offset % step === 0) oversized.add(channel)
        },
        take: () => {
          const taken = [...oversized]
          oversized = new Set()
          return taken
        },
      })
    }),
  )
}
