import { removeDemo } from "../demo/removal.ts"
import type { Command } from "./command.ts"

const remove: Command = {
  name: "demo remove",
  words: [],
  summary:
    "End the demo logins, OAuth client, codes and lootboxes, and release demo ids that were not sold; a production start needs it",
  run: () => removeDemo,
}

export const demoCommands: ReadonlyArray<Command> = [remove]
