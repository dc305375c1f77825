import { Schema } from "effect"
import { pageOf } from "../paging.ts"
import { DateTime, DateTimeIn, Int, Json, optional, text, Uuid } from "../wire-format.ts"
import { CodeKeyKind } from "./random-id-code.ts"

export const CodeType = Schema.Literals(["Discount", "RandomYat"])
export const CodeActivator = Schema.Literals(["RedemptionCode", "SecretKey"])

/** A key that can activate a code, and how it signs. */
const CodeKey = Schema.Struct({ pubkey: Schema.String, kind: CodeKeyKind }).annotate({
  identifier: "CodeKey",
})
type CodeKey = typeof CodeKey.Type

/** A row of the table `code`. */
export interface Code {
  readonly id: string
  readonly name: string
  readonly code_type: typeof CodeType.Type
  readonly activator: typeof CodeActivator.Type
  readonly redemption_code: string | null
  readonly organization_id: string | null
  readonly discount_as_percentage: number | null
  readonly discount_in_cents: number | null
  readonly max_uses: number | null
  readonly max_emojis_per_user: number | null
  readonly uses: number
  readonly pattern: unknown
  /** The keys that can activate the code, oldest first. Null if there are none. Lists have it, other reads do not. */
  readonly pubkeys?: ReadonlyArray<CodeKey> | null
  readonly start_date: string | null
  readonly end_date: string | null
  readonly deleted_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

export const CodeAvailability = Schema.Struct({
  id: Uuid,
  name: Schema.String,
  code_type: CodeType,
  activator: CodeActivator,
  total_uses: Int,
  created_at: DateTime,
  updated_at: DateTime,
  available: Schema.optionalKey(Int),
  deleted_at: Schema.optionalKey(DateTime),
  discount_as_percentage: Schema.optionalKey(Int),
  discount_in_cents: Schema.optionalKey(Int),
  end_date: Schema.optionalKey(DateTime),
  max_emojis_per_user: Schema.optionalKey(Int),
  max_uses: Schema.optionalKey(Int),
  organization_id: Schema.optionalKey(Uuid),
  pattern: Schema.optionalKey(Json),
  pubkeys: Schema.optionalKey(Schema.Array(CodeKey)),
  redemption_code: Schema.optionalKey(Schema.String),
  start_date: Schema.optionalKey(DateTime),
}).annotate({ identifier: "CodeAvailability" })
export type CodeAvailability = typeof CodeAvailability.Type

export const ListOfCodeAvailability = pageOf(CodeAvailability, "ListOfCodeAvailability")

const positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 }))

/** A code that users type. Upper and lower case are equivalent when a code is looked up. */
const RedemptionCode = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_-]{3,64}$/, {
    message: "Expected 3 to 64 letters, digits, dashes or underscores.",
  }),
)

export const NewCode = Schema.Struct({
  name: text(200),
  code_type: CodeType,
  activator: optional(CodeActivator),
  redemption_code: optional(RedemptionCode),
  organization_id: optional(Uuid),
  discount_as_percentage: optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
  discount_in_cents: optional(positive),
  max_uses: optional(positive),
  max_emojis_per_user: optional(positive),
  pattern: optional(Json),
  start_date: optional(DateTimeIn),
  end_date: optional(DateTimeIn),
}).annotate({ identifier: "NewCode" })
export type NewCode = typeof NewCode.Type
