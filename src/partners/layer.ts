import { Layer } from "effect"
import { partnerRecordWrites } from "./record-writes.ts"
import { PartnerVisits } from "./visits.ts"

/** The visits of partners' users, and the records that partners send with them. */
export const partners = partnerRecordWrites.pipe(Layer.provideMerge(PartnerVisits.layer))
