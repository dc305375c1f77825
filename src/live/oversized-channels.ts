import { Context, Effect, Layer } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import { AppConfig } from "../config/config.ts"

/**
 * Channels in which this process has placed more events than are kept of one. What a process that ended knew is learnt
 * again with the channel's next event; one that has no more goes with its time.
 */
export class OversizedChannels extends Context.Service<
  OversizedChannels,
  {
    placed(position: ChannelPosition): void
    /** Those placed in since the last taking. */
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
