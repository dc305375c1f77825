import { Layer } from "effect"
import { partnerRecordWrites } from "./record-writes.ts"
import { PartnerVisits } from "./visits.ts"

/** Visits of partners' users, and the writing of the addresses that partners send with them. */
export const partners = partnerRecordWrites.pipe(Layer.provideMerge(PartnerVisits.layer))
