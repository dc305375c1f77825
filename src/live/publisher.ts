import { Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import { Bus } from "../cluster/bus.ts"
import { accountTopic } from "../cluster/topic-names.ts"
import { LocalPublish } from "./local-publish.ts"
import { OversizedChannels } from "./oversized-channels.ts"
import { encodeWake } from "./wake-message.ts"

/** Publishes committed changes to all processes: wakes subscribers and invalidates caches. */
export const publisher = (options: { readonly peersPossible: boolean }) =>
  Layer.effect(
    Publisher,
    Effect.gen(function* () {
      const bus = yield* Bus
      const localPublish = yield* LocalPublish
      const oversized = yield* OversizedChannels
      return Publisher.of({
        committed: (events) => {
          for (const event of events) {
            oversized.placed(event)
            if (!localPublish.publish(event)) bus.publish("channel", encodeWake(event))
            else if (options.peersPossible) bus.wakeOthers("channel", encodeWake(event))
          }
        },
        moved: (positions) => {
          for (const position of positions) {
            oversized.placed(position)
            bus.publish("channel", encodeWake(position))
          }
        },
        changing: ({ ids = [], users = [] }) => bus.invalidating({ emoji_id: ids, [accountTopic]: users }),
        alone: () => !options.peersPossible,
      })
    }),
  )
