import { join } from "node:path"
import { backUp } from "../backup/backup.ts"
import { restore, verifyBackup } from "../backup/restore.ts"
import type { Config } from "../config/read-config.ts"
import type { OfflineCommand } from "./command-line/command.ts"

/** Where the keys are that a backup does not contain. */
const keyPlace = ({ dataDir, secretKeys }: Config): string =>
  secretKeys === undefined ? `the file ${join(dataDir, "secret-key")}` : "the value of SECRET_KEYS"

const backup: OfflineCommand = {
  name: "backup",
  words: ["file"],
  example: "directory.backup",
  flags: ["force"],
  summary:
    "Write a backup of the database to a new file, while the service runs or not. --force replaces the file. The keys of the service are not in it",
  work: async ({ options, words: [file = ""] }, { config, note, signal }) => {
    const made = await backUp({ config, file, replace: options["force"] !== undefined, note, signal })
    note(`Keep ${keyPlace(config)} in another place. Without it, the backup cannot be restored.`)
    return made
  },
}

const verify: OfflineCommand = {
  name: "backup verify",
  words: ["file"],
  example: "directory.backup",
  summary: "Check that a backup is complete and undamaged. Needs no database",
  work: ({ words: [file = ""] }, { note, signal }) => verifyBackup(file, signal, note),
}

const restoreBackup: OfflineCommand = {
  name: "restore",
  words: ["file"],
  example: "directory.backup",
  flags: ["move"],
  summary:
    "Restore a backup into a DATA_DIR without a database, or into an empty database of DATABASE_URL. Ends all sessions and holds waiting mail, unless --move says that nothing was written since the backup. Exit code 1 if the audit of the ledger finds a difference",
  work: async ({ options, words: [file = ""] }, { config, note, signal }) => {
    const isMove = options["move"] !== undefined
    const restored = await restore({ config, file, isMove, note, signal })
    note(
      isMove
        ? "Restored. Start the service."
        : "Restored. Start the service, then resend the webhooks of the payment provider since the backup: see docs/operating.md.",
    )
    return restored
  },
  isFailure: (result) => (result as Awaited<ReturnType<typeof restore>>).ledger_difference_in_cents !== 0,
}

export const backupCommands: ReadonlyArray<OfflineCommand> = [backup, verify, restoreBackup]
