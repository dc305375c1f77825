import { Layer } from "effect"
import { Proofs } from "./proofs.ts"
import { SigningKeys } from "./signing-keys.ts"

/** The services that sign answers. */
export const proofs = Proofs.layer.pipe(Layer.provideMerge(SigningKeys.layer))
