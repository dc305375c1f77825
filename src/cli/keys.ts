import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { InvalidRequest } from "../../schema/errors.ts"
import { resealSecondFactors } from "../accounts/two-factor/reseal-store.ts"
import { resealCustodialKeys } from "../keys/reseal-store.ts"
import { resealSigningKeys } from "../proofs/signing-key-store.ts"
import { type Command, optionOf, type ToolCommand } from "./command-line/command.ts"

const idForm = /^[\w-]{1,32}$/

/** The day in the id says later which entry is the oldest. */
const newId = (): string => `k${new Date().toISOString().slice(0, 10).replaceAll("-", "")}`

export const generateKey: ToolCommand = {
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
        error: `--id: use 1 to 32 letters, digits, underscores or hyphens. Received ${JSON.stringify(id)}.`,
      })
    const secret = randomBytes(32).toString("base64")
    note(
      "Store it outside the database. To replace keys: append it to SECRET_KEYS of every process, restart them, then make it the first entry.",
    )
    return { id, secret, entry: `${id}:${secret}` }
  },
  text: ({ entry }: { readonly entry: string }) => entry,
}

interface Reseal {
  readonly custodial_keys: { readonly unreadable: number }
  readonly second_factors: { readonly unreadable: number }
  readonly signing_keys: { readonly unreadable: number }
}

const reseal: Command = {
  name: "keys reseal",
  words: [],
  summary:
    "Encrypt custodial keys, second factors and signing keys again with the first entry of SECRET_KEYS, while the service runs. Exit code 1 if some cannot be decrypted; they stay as they are",
  run: () =>
    Effect.all({
      custodial_keys: resealCustodialKeys,
      second_factors: resealSecondFactors,
      signing_keys: resealSigningKeys,
    }),
  isFailure: (result) => {
    const { custodial_keys, second_factors, signing_keys } = result as Reseal
    return custodial_keys.unreadable + second_factors.unreadable + signing_keys.unreadable > 0
  },
}

export const keyCommands: ReadonlyArray<ToolCommand | Command> = [generateKey, reseal]
