import { Layer } from "effect"
import { partnerWrites } from "./record-writes.ts"
import { PartnerVisits } from "./visits.ts"

/** The visits of partners' users, and the records that partners send with them. */
export const partners = partnerWrites.pipe(Layer.provideMerge(PartnerVisits.layer))
