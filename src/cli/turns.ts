import { Effect, Layer } from "effect"
import { Deadlines } from "../../actors/deadlines.ts"
import { LootboxActors } from "../../actors/lootbox.ts"
import { Mailboxes } from "../../actors/mailboxes.ts"
import { OrderActors } from "../../actors/order.ts"
import { TransferActors } from "../../actors/transfer.ts"
import { CrowdedChannels } from "../live/crowded.ts"
import { publisher } from "../live/publisher.ts"
import { Said } from "../live/said.ts"
import { Codes } from "../services/codes.ts"
import { FirstKeys } from "../services/first-keys.ts"
import { IdChanges } from "../services/id-changes.ts"
import { Registry } from "../services/registry.ts"
import { DatabaseClock } from "../store/database-clock.ts"
import { entityStore } from "../store/entity-store.ts"
import { Outbox } from "../store/outbox.ts"

/** Deadlines are the service's: a command that leased one would only delay it. */
const noDeadlines = Layer.succeed(
  Deadlines,
  Deadlines.of({
    register: () => {},
    expect: () => {},
    aside: () => Effect.void,
    sweep: Effect.succeed(0),
  }),
)

/** Boxes, orders, transfers, codes and ids as a command changes them, beside a service that may be running. */
export const turnServices = Layer.mergeAll(Codes.layer, FirstKeys.layer, Registry.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(IdChanges.layer, LootboxActors.layer, OrderActors.layer, TransferActors.layer),
  ),
  Layer.provideMerge(Layer.mergeAll(noDeadlines, Mailboxes.layer)),
  Layer.provideMerge(Layer.mergeAll(entityStore, publisher({ peersPossible: true }))),
  Layer.provideMerge(Layer.mergeAll(Said.layer, CrowdedChannels.layer, DatabaseClock.layer, Outbox.layer)),
)
