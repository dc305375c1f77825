import { backupCommands } from "./backup.ts"
import { codeCommands } from "./codes.ts"
import type { CliCommand } from "./command-line/command.ts"
import { demoCommands } from "./demo.ts"
import { doctorCommands } from "./doctor/doctor.ts"
import { featureCommands } from "./features.ts"
import { idCommands } from "./ids.ts"
import { keyCommands } from "./keys.ts"
import { liveCommands } from "./live.ts"
import { mailCommands } from "./mail.ts"
import { mailTestCommands } from "./mail-test.ts"
import { mintingCommands } from "./minting.ts"
import { oauthCommands } from "./oauth.ts"
import { orderCommands } from "./orders.ts"
import { organizationCommands } from "./organizations.ts"
import { partnerCommands } from "./partners.ts"
import { personalDataCommands } from "./personal-data.ts"
import { signingKeyCommands } from "./signing-keys.ts"
import { userCommands } from "./users.ts"
import { verifyCommands } from "./verify.ts"

/** All commands, in the order in which the help lists them. */
export const commands: ReadonlyArray<CliCommand> = [
  ...userCommands,
  ...personalDataCommands,
  ...organizationCommands,
  ...partnerCommands,
  ...oauthCommands,
  ...orderCommands,
  ...codeCommands,
  ...featureCommands,
  ...idCommands,
  ...mintingCommands,
  ...demoCommands,
  ...liveCommands,
  ...verifyCommands,
  ...backupCommands,
  ...mailCommands,
  ...keyCommands,
  ...signingKeyCommands,
  ...mailTestCommands,
  ...doctorCommands,
]
