import { Layer } from "effect"
import { ApiKeyUses } from "../accounts/api-keys/api-key-use-store.ts"
import { CallerCache } from "../accounts/caller-cache.ts"
import { accounts } from "../accounts/layer.ts"
import { Passwords } from "../accounts/passwords.ts"
import { SecurityLog } from "../accounts/security-log/security-log.ts"
import { Users } from "../accounts/user-store.ts"
import { cliBus } from "../cluster/cli-bus.ts"
import { AppConfig, type Config } from "../config/read-config.ts"
import { masterKeys } from "../config/secret-keys.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import { DemoItems } from "../demo/demo-item-store.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { keys } from "../keys/layer.ts"
import { mintSignatures } from "../minting/layer.ts"
import { organizations } from "../organizations/layer.ts"
import type { DatabaseAddress } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import { OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { logging, withoutInfo } from "../telemetry/log.ts"
import { Outbox } from "../turns/outbox.ts"
import { turnServices } from "./turns.ts"

/**
 * All services that the commands use. The HTTP server is not one of them. The terminal shows the result of a command,
 * so log lines with the level Info are not written.
 */
export const cliServices = (config: Config, connection: DatabaseAddress) =>
  Layer.mergeAll(turnServices, DemoItems.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(accounts, keys, organizations, OauthClients.layer, EmojiIds.layer)),
    Layer.provideMerge(Layer.mergeAll(ApiKeyUses.layer, CallerCache.layer, SecurityLog.layer, Users.layer)),
    Layer.provideMerge(Layer.mergeAll(cliBus(config, connection), CustodialKeys.layer, Outbox.layer)),
    Layer.provideMerge(
      Layer.mergeAll(
        Sql.layer({ connection, poolSize: 2, statementTimeoutMs: config.statementTimeoutMs }),
        Seal.layer({ keys: masterKeys(config) }),
        Passwords.layer(),
        mintSignatures,
      ),
    ),
    Layer.provideMerge(
      Layer.mergeAll(Layer.succeed(AppConfig, config), logging({ logLevel: withoutInfo(config.logLevel) })),
    ),
  )

export type CliServices = Layer.Success<ReturnType<typeof cliServices>>
