import { Effect } from "effect"
import { Conflict, isProblem } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { checkSealedKeys } from "../keys/sealed-keys-check.ts"
import { MintSignatures } from "../minting/mint-signatures.ts"
import type { Command } from "./command-line/command.ts"

/**
 * Fails if the secret keys of this shell cannot decrypt the keys in the database, which the service encrypted. The
 * address is derived from the secret keys, so the command would show an address that the service does not use. If
 * MINT_KEY is set, the address is derived from MINT_KEY, and nothing is checked.
 */
const checkSigner = AppConfig.use(({ mintKey }) =>
  mintKey === undefined ? checkSealedKeys : Effect.void,
).pipe(Effect.mapError((error) => (isProblem(error) ? error : new Conflict({ error: error.message }))))

const signer: Command = {
  name: "mint signer",
  words: [],
  summary: "Show the address that signs mint permissions. The token contract must trust it",
  run: () =>
    Effect.andThen(
      checkSigner,
      MintSignatures.use((signatures) => Effect.map(signatures.signer, (address) => ({ address }))),
    ),
}

export const mintingCommands: ReadonlyArray<Command> = [signer]
