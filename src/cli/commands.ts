import { clientCommands } from "./clients.ts"
import type { Command } from "./command.ts"
import { demoCommands } from "./demo.ts"
import { featureCommands } from "./features.ts"
import { mintingCommands } from "./minting.ts"
import { organizationCommands } from "./organizations.ts"
import { userCommands } from "./users.ts"

/** All commands. Each subject adds its commands here. */
export const commands: ReadonlyArray<Command> = [
  ...userCommands,
  ...organizationCommands,
  ...clientCommands,
  ...featureCommands,
  ...mintingCommands,
  ...demoCommands,
]
