import { Effect } from "effect"
import { TransferActors } from "../../actors/transfer.ts"
import type { TransferStatus } from "../../schema/transfers/transfer.ts"
import type { SubjectChannels } from "../live/channel-states.ts"
import { displayTransfer, TransferLists } from "./transfer-store.ts"

/** Reads the state of the channels `transfers` and `transfer:{id}`. The state of an unknown transfer is null. */
export const transferChannels = Effect.gen(function* () {
  const actors = yield* TransferActors
  const lists = yield* TransferLists
  const channels: SubjectChannels<"transfer" | "transfers"> = {
    transfer: {
      view: ({ key }) =>
        Effect.map(actors.find(key), (found) =>
          found === undefined
            ? null
            : displayTransfer({
                status: found.snapshot.value as TransferStatus,
                context: found.snapshot.context,
              }),
        ),
    },
    transfers: {
      view: Effect.fnUntraced(function* ({ key }) {
        const outgoing = yield* lists.listOpen(key)
        const { rows } = yield* lists.listIncoming(key, false)
        return { outgoing, incoming: rows }
      }),
    },
  }
  return channels
})
