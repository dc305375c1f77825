import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { AppConfig } from "../config/config.ts"

/**
 * The channels to which this process added an event beyond the limit per channel. The list is in memory only. After a
 * restart, a channel is added again with its next event. A channel without further events shrinks when its events
 * reach the maximum age.
 */
export class OversizedChannels extends Context.Service<
  OversizedChannels,
  {
    placed(position: ChannelPosition): void
    /** Returns the channels that exceeded the limit since the last call, and clears the list. */
    take(): ReadonlyArray<string>
  }
>()("directory/OversizedChannels") {
  static readonly layer = Layer.effect(
    OversizedChannels,
    Effect.map(AppConfig, ({ eventKeepPerChannel }) => {
      let oversized = new Set<string>()
      return OversizedChannels.of({
        placed: ({ channel, offset }) => {
          if (offset > eventKeepPerChannel) oversized.add(channel)
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
