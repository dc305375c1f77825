import { randomBytes } from "node:crypto"
import { InvalidRequest } from "../../schema/errors.ts"
import { optionOf, type ToolCommand } from "./command-line/command.ts"

const idForm = /^[\w-]{1,32}$/

/** The day in the id says later which entry is the oldest. */
const newId = (): string => `k${new Date().toISOString().slice(0, 10).replaceAll("-", "")}`

const generate: ToolCommand = {
  name: "keys generate",
  words: [],
  options: ["id"],
  summary:
    "Generate an entry of SECRET_KEYS and print it. Nothing is stored. --id names it; the default contains the date of today",
  example: "--id k2",
  tool: async (input, { note }) => {
    const id = optionOf(input, "id") ?? newId()
    if (!idForm.test(id))
      throw new InvalidRequest({
        error: `--id: expected 1 to 32 letters, digits, _ or -, got ${JSON.stringify(id)}.`,
      })
    const secret = randomBytes(32).toString("base64")
    note(
      "Store it outside the database. To replace keys: append it to SECRET_KEYS of every process, restart them, then make it the first entry.",
    )
    return { id, secret, entry: `${id}:${secret}` }
  },
  text: ({ entry }: { readonly entry: string }) => entry,
}

export const keyCommands: ReadonlyArray<ToolCommand> = [generate]
