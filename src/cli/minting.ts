import { Effect } from "effect"
import { Conflict, isProblem } from "../../schema/errors.ts"
import { AppConfig } from "../config/config.ts"
import { checkSealedKeys } from "../keys/sealed-keys-check.ts"
import { MintSignatures } from "../minting/mint-signatures.ts"
import type { Command } from "./command.ts"

/** Without the secret of the service, which a shell may lack, this would be the address of somebody who signs nothing. */
const checkSigner = AppConfig.use(({ mintKey }) =>
  mintKey === undefined ? checkSealedKeys : Effect.void,
).pipe(Effect.mapError((error) => (isProblem(error) ? error : new Conflict({ error: error.message }))))

const signer: Command = {
  name: "mint signer",
  words: [],
  summary: "The address that signs mint permissions, for the token contract to trust",
  run: () =>
    Effect.andThen(
      checkSigner,
      MintSignatures.use((signatures) => Effect.map(signatures.signer, (address) => ({ address }))),
    ),
}

export const mintingCommands: ReadonlyArray<Command> = [signer]
