import { Layer } from "effect"
import { outsiderBus } from "../bus/outsiders.ts"
import { AppConfig, type Config } from "../config.ts"
import { masterKeys } from "../keys.ts"
import { logging } from "../log.ts"
import { mintSignatures } from "../rooms/minting.ts"
import { people } from "../rooms/people.ts"
import { Callers } from "../services/callers.ts"
import { Passwords } from "../services/passwords.ts"
import { Seal } from "../services/seal.ts"
import { type DatabaseAddress, Sql } from "../store/sql.ts"
import { Users } from "../store/users.ts"
import { turnServices } from "./turns.ts"

/** The service's own parts over a database, without its server. */
export const cliServices = (config: Config, connection: DatabaseAddress) =>
  turnServices.pipe(
    Layer.provideMerge(people),
    Layer.provideMerge(Layer.mergeAll(Callers.layer, Users.layer)),
    Layer.provideMerge(outsiderBus),
    Layer.provideMerge(
      Layer.mergeAll(
        Sql.layer({ connection, poolSize: 2, statementTimeoutMs: config.statementTimeoutMs }),
        Seal.layer({ keys: masterKeys(config) }),
        Passwords.layer(),
        mintSignatures,
      ),
    ),
    Layer.provideMerge(Layer.mergeAll(Layer.succeed(AppConfig, config), logging(config))),
  )

export type CliServices = Layer.Success<ReturnType<typeof cliServices>>
