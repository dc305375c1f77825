import { Effect } from "effect"
import { MintSignatures } from "../services/mint-signatures.ts"
import type { Command } from "./command.ts"

const signer: Command = {
  name: "mint signer",
  words: [],
  summary: "The address that signs mint permissions, for the token contract to trust",
  run: () => MintSignatures.use((signatures) => Effect.map(signatures.signer, (address) => ({ address }))),
}

export const mintingCommands: ReadonlyArray<Command> = [signer]
