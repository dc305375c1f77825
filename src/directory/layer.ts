import { Layer } from "effect"
import { IdChanges } from "./id-changes.ts"
import { IdLists } from "./id-lists.ts"
import { IdRegistry } from "./id-registry.ts"
import { EmojiIds } from "./id-store.ts"
import { JsonStore } from "./json-store.ts"
import { liveProofs } from "./lookup/live-proofs.ts"
import { Lookups } from "./lookup/lookups.ts"
import { SignedAnswers } from "./lookup/signed-answers.ts"
import { ViewCounter } from "./lookup/view-counter.ts"
import { Records } from "./records.ts"

/** The services for registered ids: lookups, records, stored JSON, lists, and registration by admins. */
export const directory = Layer.mergeAll(
  JsonStore.layer,
  Lookups.layer,
  IdLists.layer,
  Records.layer,
  IdRegistry.layer,
  liveProofs,
).pipe(
  Layer.provideMerge(Layer.mergeAll(EmojiIds.layer, IdChanges.layer, SignedAnswers.layer, ViewCounter.layer)),
)
