import { Layer } from "effect"
import { partnerRecordWrites } from "./record-writes.ts"
import { PartnerVisits } from "./visits.ts"

/** The services of this folder: the visits, and the task that writes the addresses of visits after a payment. */
export const partners = partnerRecordWrites.pipe(Layer.provideMerge(PartnerVisits.layer))
