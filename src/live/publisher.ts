import { Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import { Bus } from "../bus/bus.ts"
import { accountTopic } from "../services/account-answers.ts"
import { CrowdedChannels } from "./crowded.ts"
import { Said } from "./said.ts"
import { encodeWake } from "./wake.ts"

/** Wakes and invalidates across processes; what is told here is already committed. */
export const publisher = (options: { readonly peersPossible: boolean }) =>
  Layer.effect(
    Publisher,
    Effect.gen(function* () {
      const bus = yield* Bus
      const said = yield* Said
      const crowded = yield* CrowdedChannels
      return Publisher.of({
        committed: (events) => {
          for (const event of events) {
            crowded.placed(event)
            if (!said.tell(event)) bus.publish("channel", encodeWake(event))
            else if (options.peersPossible) bus.wakeOthers("channel", encodeWake(event))
          }
        },
        moved: (positions) => {
          for (const position of positions) {
            crowded.placed(position)
            bus.publish("channel", encodeWake(position))
          }
        },
        idsChanged: (canonicals) => bus.invalidate("emoji_id", canonicals),
        accountsChanged: (userIds) => bus.invalidate(accountTopic, userIds),
        alone: () => !options.peersPossible,
      })
    }),
  )
