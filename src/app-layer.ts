import { Layer } from "effect"
import { Deadlines } from "../actors/deadlines.ts"
import { JoinedTurns } from "../actors/joined-turns.ts"
import { LootboxActors } from "../actors/lootbox.ts"
import { Mailboxes } from "../actors/mailboxes.ts"
import { OrderActors } from "../actors/order.ts"
import { TransferActors } from "../actors/transfer.ts"
import { SessionActors } from "../actors/two-factor-session.ts"
import { authentication, callers, credentials } from "./accounts/authentication-layer.ts"
import { guards } from "./accounts/guards-layer.ts"
import { accounts } from "./accounts/layer.ts"
import type { PasswordOptions } from "./accounts/passwords.ts"
import { receiveCliNotifications } from "./cluster/cli-notifications.ts"
import { type ClusterOptions, clusterLayer } from "./cluster/layer.ts"
import { AppConfig, type Config } from "./config/read-config.ts"
import { masterKeys } from "./config/secret-keys.ts"
import { CustodialKeys } from "./crypto/custodial-keys.ts"
import { Seal } from "./crypto/envelope-encryption.ts"
import { currentUser } from "./current-user/layer.ts"
import { DemoItems } from "./demo/demo-item-store.ts"
import { directory } from "./directory/layer.ts"
import { history } from "./history/layer.ts"
import { keys } from "./keys/layer.ts"
import { sealedKeysCheck } from "./keys/sealed-keys-check.ts"
import { live } from "./live/layer.ts"
import { LocalPublish } from "./live/local-publish.ts"
import { OversizedChannels } from "./live/oversized-channels.ts"
import { publisher } from "./live/publisher.ts"
import { channelStates } from "./live-channels.ts"
import { lootboxes } from "./lootboxes/layer.ts"
import { delivery } from "./mail/delivery.ts"
import { market } from "./market/layer.ts"
import { minting } from "./minting/layer.ts"
import { operations } from "./operations/layer.ts"
import { Readiness } from "./operations/readiness.ts"
import { orders } from "./orders/layer.ts"
import { organizations, returnLinkWarnings } from "./organizations/layer.ts"
import { partners } from "./partners/layer.ts"
import { DatabaseClock } from "./postgres/database-clock.ts"
import { requestIdOf } from "./postgres/request-time.ts"
import { Sql } from "./postgres/sql.ts"
import { proofs } from "./proofs/layer.ts"
import { Proxied } from "./proxy/named-services.ts"
import { signIn } from "./sign-in/layer.ts"
import { logging } from "./telemetry/log.ts"
import { metricsLayer } from "./telemetry/metrics.ts"
import { tracing } from "./telemetry/request-traces.ts"
import { transfers } from "./transfers/layer.ts"
import { entityStore } from "./turns/entity-store.ts"
import { Outbox } from "./turns/outbox.ts"

export interface ServiceOptions extends ClusterOptions {
  readonly config: Config
  /**
   * If true, this process creates the configured admin and the demo data before it serves requests. It is set for only
   * one process of a service.
   */
  readonly preparesData?: boolean
  /** If true, every response is checked against its schema. */
  readonly checkAnswers?: boolean
  /** The cost of a password hash. Tests lower it. */
  readonly passwords?: PasswordOptions
  /** How long a request may wait before it is begun. Tests raise it, because they share a busy machine. */
  readonly maxWaitMs?: number
}

const liveCheckMs = 1000

/** The wiring of the service, from the top down: each line needs only the lines below it. */
export const appLayer = (surroundings: ServiceOptions) => {
  const { config, database } = surroundings
  const masterSecrets = masterKeys(config)
  const sql = Sql.layer({
    connection: database,
    poolSize: config.poolSize,
    statementTimeoutMs: config.statementTimeoutMs,
  })
  const actors = Layer.mergeAll(
    OrderActors.layer,
    SessionActors.layer({ graceMs: config.twoFactorGraceSeconds * 1000 }),
    TransferActors.layer,
    LootboxActors.layer,
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Deadlines.layer({ intervalMs: config.sweepIntervalMs }),
        JoinedTurns.layer,
        Mailboxes.layer,
      ),
    ),
    Layer.provideMerge(Layer.mergeAll(entityStore, publisher(surroundings))),
    Layer.provideMerge(Layer.mergeAll(LocalPublish.layer, OversizedChannels.layer)),
  )
  const platform = Layer.mergeAll(
    DatabaseClock.layer,
    Outbox.layer,
    clusterLayer(surroundings),
    Readiness.layer,
    CustodialKeys.layer,
    sealedKeysCheck,
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        sql,
        Seal.layer({ keys: masterSecrets }),
        credentials(masterSecrets, surroundings.passwords),
      ),
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(AppConfig, config),
        logging(config, requestIdOf),
        metricsLayer({ isWorker: config.workerOf !== undefined }),
        tracing(config),
      ),
    ),
  )
  return live({ checkMs: liveCheckMs }).pipe(
    Layer.provideMerge(channelStates),
    Layer.provideMerge(
      Layer.mergeAll(
        partners,
        currentUser,
        history,
        operations,
        Proxied.layer,
        DemoItems.layer,
        delivery,
        guards,
        returnLinkWarnings,
      ),
    ),
    Layer.provideMerge(orders(masterSecrets)),
    Layer.provideMerge(Layer.mergeAll(lootboxes, transfers)),
    Layer.provideMerge(Layer.mergeAll(market, minting, organizations, signIn)),
    Layer.provideMerge(directory),
    Layer.provideMerge(Layer.mergeAll(keys, proofs)),
    Layer.provideMerge(Layer.mergeAll(accounts, authentication, receiveCliNotifications(surroundings))),
    Layer.provideMerge(actors),
    Layer.provideMerge(callers(masterSecrets, config)),
    Layer.provideMerge(platform),
  )
}
