import { Effect, Layer } from "effect"
import { Deadlines } from "../../actors/deadlines.ts"
import { JoinedTurns } from "../../actors/joined-turns.ts"
import { LootboxActors } from "../../actors/lootbox.ts"
import { Mailboxes } from "../../actors/mailboxes.ts"
import { OrderActors } from "../../actors/order.ts"
import { TransferActors } from "../../actors/transfer.ts"
import { IdChanges } from "../directory/id-changes.ts"
import { IdImports } from "../directory/id-import-store.ts"
import { IdRegistry } from "../directory/id-registry.ts"
import { DefaultPubkeys } from "../keys/default-pubkey.ts"
import { LocalPublish } from "../live/local-publish.ts"
import { OversizedChannels } from "../live/oversized-channels.ts"
import { publisher } from "../live/publisher.ts"
import { Codes } from "../orders/codes/code-store.ts"
import { DatabaseClock } from "../postgres/database-clock.ts"
import { entityStore } from "../turns/entity-store.ts"

/**
 * A replacement for `Deadlines` that does nothing, because the running service processes the deadlines. If a command
 * leased a deadline, the service would have to wait for the end of the lease.
 */
const noDeadlines = Layer.succeed(
  Deadlines,
  Deadlines.of({
    register: () => {},
    expect: () => {},
    aside: () => Effect.void,
    sweep: Effect.succeed(0),
  }),
)

/**
 * The services that commands use to change lootboxes, orders, transfers, codes and ids. The HTTP service may run at
 * the same time.
 */
export const turnServices = Layer.mergeAll(
  Codes.layer,
  DefaultPubkeys.layer,
  IdImports.layer,
  IdRegistry.layer,
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(IdChanges.layer, LootboxActors.layer, OrderActors.layer, TransferActors.layer),
  ),
  Layer.provideMerge(Layer.mergeAll(noDeadlines, JoinedTurns.layer, Mailboxes.layer)),
  Layer.provideMerge(Layer.mergeAll(entityStore, publisher({ peersPossible: true }))),
  Layer.provideMerge(Layer.mergeAll(LocalPublish.layer, OversizedChannels.layer, DatabaseClock.layer)),
)
