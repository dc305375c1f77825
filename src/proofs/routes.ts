import { Effect } from "effect"
import { ProofKeys } from "../../schema/proofs/key-document.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { Proofs } from "./proofs.ts"

/** Shorter than the time for which a new key is published before it signs. */
const cacheSeconds = 300

const keys = route({
  id: "proofKeys",
  group: "lookup",
  summary: "Get the public keys that verify signed answers",
  description:
    "The keys that sign the `proof` of an answer, with the times between which their proofs are valid. Store them, and verify answers without a connection. A new key is published before it signs, so read them again every few minutes, or when a proof names a key that you do not have. [Verify answers](/docs/verification) has the checks.",
  method: "get",
  path: "/.well-known/emoji-id-directory",
  auth: "none",
  limit: "read",
  success: ProofKeys,
  errors: [],
  handler: () =>
    Proofs.use(({ document }) =>
      Effect.sync(() =>
        Reply.json(document(), { headers: { "Cache-Control": `public, max-age=${cacheSeconds}` } }),
      ),
    ),
})

export const proofRoutes = [keys] as const
