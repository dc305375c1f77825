import { Effect, Layer } from "effect"
import { Publisher } from "../../actors/ports.ts"
import { Bus } from "../bus/bus.ts"
import { accountTopic } from "../services/account-answers.ts"

/** Wakes and invalidates across processes; what is told here is already committed. */
export const publisher = (options: { readonly peersPossible: boolean }) =>
  Layer.effect(
    Publisher,
    Effect.gen(function* () {
      const bus = yield* Bus
      return Publisher.of({
        committed: (positions) => {
          for (const { channel } of positions) bus.publish("channel", channel)
        },
        idsChanged: (canonicals) => bus.invalidate("emoji_id", canonicals),
        accountsChanged: (userIds) => bus.invalidate(accountTopic, userIds),
        alone: () => !options.peersPossible,
      })
    }),
  )
