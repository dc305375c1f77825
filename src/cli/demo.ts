import { removeDemo } from "../demo/removal.ts"
import type { Command } from "./command-line/command.ts"

const remove: Command = {
  name: "demo remove",
  words: [],
  summary:
    "Remove the demo users, OAuth client, codes, lootboxes and unsold ids. Required before a production start",
  run: () => removeDemo,
}

export const demoCommands: ReadonlyArray<Command> = [remove]
