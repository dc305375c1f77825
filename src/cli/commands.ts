import { backupCommands } from "./backup.ts"
import { clientCommands } from "./clients.ts"
import type { CliCommand } from "./command.ts"
import { demoCommands } from "./demo.ts"
import { featureCommands } from "./features.ts"
import { idCommands } from "./ids.ts"
import { liveCommands } from "./live.ts"
import { mailCommands } from "./mail.ts"
import { mintingCommands } from "./minting.ts"
import { organizationCommands } from "./organizations.ts"
import { userCommands } from "./users.ts"

/** All commands, in the order in which the help lists them. */
export const commands: ReadonlyArray<CliCommand> = [
  ...userCommands,
  ...organizationCommands,
  ...clientCommands,
  ...featureCommands,
  ...idCommands,
  ...mintingCommands,
  ...demoCommands,
  ...liveCommands,
  ...backupCommands,
  ...mailCommands,
]
