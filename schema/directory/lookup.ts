import { Schema } from "effect"
import { BooleanText, DateTime } from "../wire-format.ts"
import { Metric } from "./metric.ts"
import { DirectoryRecord } from "./records/record.ts"
import { PaymentAddress } from "./records/record-selection.ts"

export const LookupError = Schema.Struct({ code: Schema.String, reason: Schema.String }).annotate({
  identifier: "LookupError",
})

const envelope = {
  status: Schema.Boolean,
  result: Schema.Array(DirectoryRecord),
  error: Schema.NullOr(LookupError),
}
/** The version of the id. It increases with every change of the id. */
const version = Schema.Int

/** When the id got its owner, if that was within the last 24 hours and the id had another owner before. */
const owner_changed_at = Schema.optionalKey(DateTime)

export const proof = Schema.optionalKey(Schema.String).annotateKey({
  description: "A signed statement about the answer, as a compact JWS. Only with `proof=true`.",
})

/** The query parameter `proof` of the lookups. */
export const ProofQuery = {
  proof: Schema.optionalKey(BooleanText).annotateKey({
    description: "`true` adds a signed `proof`, with which the answer can be verified offline.",
  }),
}

export const LookupResponse = Schema.Struct({
  ...envelope,
  stats: Schema.Array(Metric),
  owner_changed_at,
  version,
  proof,
}).annotate({
  identifier: "LookupResponse",
})
export type LookupResponse = typeof LookupResponse.Type

export const TickerResponse = Schema.Struct({ ...envelope, version, proof }).annotate({
  identifier: "TickerResponse",
})

export const PaymentAddressResponse = Schema.Struct({
  status: Schema.Boolean,
  result: Schema.Record(Schema.String, PaymentAddress),
  error: Schema.NullOr(LookupError),
  version,
  proof,
}).annotate({ identifier: "PaymentAddressResponse" })

export const maxIdsPerBatch = 100

export const BatchLookupRequest = Schema.Struct({
  emoji_ids: Schema.Array(Schema.String.check(Schema.isMaxLength(512))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(maxIdsPerBatch),
  ),
}).annotate({ identifier: "BatchLookupRequest" })

/** The answer for one id of a batch. `emoji_id` is the id in the spelling of the request. */
export const BatchLookupAnswer = Schema.Struct({
  emoji_id: Schema.String,
  status: Schema.Boolean,
  result: Schema.optionalKey(Schema.Array(DirectoryRecord)),
  error: Schema.NullOr(LookupError),
  stats: Schema.Array(Metric),
  owner_changed_at,
  version: Schema.optionalKey(Schema.Int),
  proof,
}).annotate({ identifier: "BatchLookupAnswer" })
export type BatchLookupAnswer = typeof BatchLookupAnswer.Type

export const BatchLookupResponse = Schema.Struct({ result: Schema.Array(BatchLookupAnswer) }).annotate({
  identifier: "BatchLookupResponse",
})

export const Confirmation = Schema.Struct({ result: Schema.Boolean, version }).annotate({
  identifier: "Confirmation",
})
