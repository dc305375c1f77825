// Generated from the route table by `npm run docs`. Do not edit.

export interface AcceptTransfer {
  readonly code: string
}

export interface AddItemsCartRequest {
  readonly items: ReadonlyArray<AddItemsCartRequestItems>
  readonly tracking_data?: unknown
}

export type AddItemsCartRequestItems = {
  readonly emoji_id: string
} | {
  readonly lootbox_id: string
}

export interface AdminFigures {
  readonly registered_ids: number
  readonly registered_ids_is_estimate: boolean
  readonly open_holds: number
  readonly waiting_mail: number
  readonly oldest_mail_seconds: number
  readonly live_sockets?: number
  readonly days: ReadonlyArray<DaySales>
}

export interface AdminNewLootBoxBody {
  readonly status: LootBoxStatus
  readonly yats: ReadonlyArray<string>
  readonly owner_email?: string | null
  readonly owner_id?: string | null
}

export interface AdminNewLootBoxType {
  readonly name: string
  readonly description: string
  readonly config: LootBoxTypeConfig
}

export interface AdminUpdateLootBoxBody {
  readonly status?: LootBoxStatus | null
  readonly yats?: ReadonlyArray<string> | null
  readonly owner_email?: string | null
  readonly owner_id?: string | null
}

export interface AdminUpdateUserParameters {
  readonly activation_source?: string | null
  readonly active?: boolean | null
  readonly current_password?: string | null
  readonly email?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly free_limit?: number | null
  readonly password?: string | null
  readonly revoke_api_keys?: boolean | null
  readonly role?: Role | null
}

export interface Alive {
  readonly status: "ok"
}

export interface ApplyPromoCodeRequest {
  readonly code: string
}

export type Availability = "Available" | "Taken" | "InCart" | "ComingSoon" | "NoPrice"

export interface BackupDisableBody {
  readonly backup_code: string
  readonly alternate_id?: string | null
  readonly email?: string | null
  readonly disable_all?: boolean | null
  readonly provider?: TwoFactorProvider | null
}

export interface BatchLookupAnswer {
  readonly emoji_id: string
  readonly status: boolean
  readonly result?: ReadonlyArray<DirectoryRecord>
  readonly error: LookupError | null
  readonly stats: ReadonlyArray<Metric>
  readonly owner_changed_at?: string
  readonly version?: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export interface BatchLookupRequest {
  readonly emoji_ids: ReadonlyArray<string>
}

export interface BatchLookupResponse {
  readonly result: ReadonlyArray<BatchLookupAnswer>
}

export interface BatchResolveAnswer {
  readonly emoji_id: string
  readonly status: boolean
  readonly asset?: string
  readonly network?: string
  /** The address as a wallet pastes it. An Ethereum-style address has 0x and an EIP-55 checksum. */
  readonly address?: string
  /** The memo or destination tag that the payment needs. Never send without it. */
  readonly memo?: string
  /** The record that has the address. */
  readonly record?: {
    readonly tag: string
    readonly hash: string
  }
  /** The rule that selected the record. */
  readonly rule?: ResolveRule
  readonly warnings: ReadonlyArray<ResolveWarning>
  readonly error: LookupError | null
  readonly networks?: ReadonlyArray<string>
  readonly version?: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export interface BatchResolveRequest {
  readonly items: ReadonlyArray<ResolveItem>
}

export interface BatchResolveResponse {
  readonly result: ReadonlyArray<BatchResolveAnswer>
}

export interface CheckoutCartRequest {
  readonly method: "Free" | "CryptoCommerce" | "CardCheckout" | "Cash" | "WalletPay"
  readonly amount?: number | null
  readonly external_reference?: string | null
  readonly cancel_url?: string | null
  readonly success_url?: string | null
  readonly pubkey?: string | null
  readonly tracking_data?: unknown
}

export interface CodeAvailability {
  readonly id: string
  readonly name: string
  readonly code_type: "Discount" | "RandomYat"
  readonly activator: "RedemptionCode" | "SecretKey"
  readonly total_uses: number
  readonly created_at: string
  readonly updated_at: string
  readonly available?: number
  readonly deleted_at?: string
  readonly discount_as_percentage?: number
  readonly discount_in_cents?: number
  readonly end_date?: string
  readonly max_emojis_per_user?: number
  readonly max_uses?: number
  readonly organization_id?: string
  readonly pattern?: unknown
  readonly pubkeys?: ReadonlyArray<CodeKey>
  readonly redemption_code?: string
  readonly start_date?: string
}

export interface CodeBudget {
  readonly organization_id: string
  readonly budget_in_cents: number
  readonly used_in_cents: number
  readonly remaining_in_cents: number
}

export interface CodeKey {
  readonly pubkey: string
  readonly kind: CodeKeyKind
}

export type CodeKeyKind = "ristretto255" | "ed25519"

export interface Confirm2Fa {
  readonly code: string
  readonly refresh_token: string
}

export interface Confirm2FaUpdate {
  readonly code: string
}

export interface Confirmation {
  readonly result: boolean
  readonly version: number
}

export interface ConnectFrame {
  readonly type: "connect"
  readonly token?: string | null
}

export interface ConnectedFrame {
  readonly type: "connected"
  readonly user_id: string | null
  readonly expires_at: string | null
}

export interface CreateApiKeyBody {
  readonly name: string
  readonly expires_at?: string | null
  readonly scopes?: ReadonlyArray<Scope> | null
  readonly sensitive?: boolean | null
  readonly current_password?: string | null
}

export interface CurrentUser {
  readonly features: ReadonlyArray<DisplayFeature>
  readonly global_scopes: ReadonlyArray<Scope>
  readonly organization_roles: { readonly [name: string]: Role }
  readonly organization_scopes: { readonly [name: string]: ReadonlyArray<Scope> }
  readonly pending_transfers: ReadonlyArray<string>
  readonly pubkeys: ReadonlyArray<string>
  readonly role: Role
  readonly user: DisplayUser
  readonly partner_transaction_id?: string
}

export interface DaySales {
  readonly day: string
  readonly orders: number
  readonly sales_in_cents: number
  readonly refunds_in_cents: number
}

export interface DeletedUser {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly free_limit: number
  readonly remaining_free_emoji: number
  readonly pubkeys: ReadonlyArray<string>
  readonly role: Role
  readonly two_factor_should_prompt: boolean
  readonly is_active: boolean
  readonly alternate_id?: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly source?: string
  readonly deactivated_at?: string
  readonly email_verified_at?: string
  readonly two_factor_last_prompted_at?: string
  readonly two_factor_auth?: ReadonlyArray<TwoFactorProvider>
  readonly partner_conversion_id?: string
  readonly partner_transaction_id?: string
  readonly kept_emoji_ids: ReadonlyArray<string>
}

export interface DirectoryRecord {
  /** The category, as `0x` and four hex digits in lower case. */
  readonly tag: string
  /** The value as it is stored. An Ethereum address (tag `0x1004`) is stored in lower case without `0x`. */
  readonly data: string
  /** Identifies the record. Send it in `delete` to remove the record. */
  readonly hash: string
}

export interface Disable2FABody {
  readonly disable_all: boolean
  readonly provider?: TwoFactorProvider | null
}

export interface DisplayApiKey {
  readonly id: string
  readonly api_key: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly sensitive: boolean
  readonly created_at: string
  readonly last_used_at?: string
  readonly expires_at?: string
}

export interface DisplayFeature {
  readonly code: string
  readonly id: string
}

export interface DisplayOrder {
  readonly id: string
  readonly order_number: string
  readonly status: "Cancelled" | "Draft" | "Paid" | "PendingPayment"
  readonly created_at: string
  readonly updated_at: string
  readonly user_id: string
  readonly user: DisplayUser
  readonly total_in_cents: number
  readonly remaining_due_in_cents: number
  readonly amount_overpaid_in_cents: number
  readonly refunded_total_in_cents: number
  readonly misc_refunded_total_in_cents: number
  readonly eligible_for_refund: boolean
  readonly order_items: ReadonlyArray<DisplayOrderOrderItems>
  readonly allowed_actions: ReadonlyArray<"add" | "remove" | "clear" | "checkout" | "promo_code" | "convert_to_draft" | "cancel" | "refund">
  readonly expires_at?: string
  readonly seconds_until_expiry?: number
  readonly paid_at?: string
  readonly organization_id?: string
  readonly payment_method_data?: DisplayOrderPaymentMethodData
  readonly last_payment_error?: string
}

export interface DisplayOrderOrderItems {
  readonly id: string
  readonly order_id: string
  readonly item_type: "Discount" | "LootBox" | "EmojiId"
  readonly quantity: number
  readonly refunded_quantity: number
  readonly unit_price_in_cents: number
  readonly client_fee_in_cents: number
  readonly company_fee_in_cents: number
  readonly created_at: string
  readonly updated_at: string
  readonly code_id?: string
  readonly main_id?: string
  readonly main_table?: string
  readonly parent_id?: string
  readonly emoji_id?: string
  readonly rhythm_score?: number
  readonly marked_invalid_at?: string
  readonly marked_invalid_at_reason?: "Taken" | "PendingPurchase"
  readonly previous_unit_price_in_cents?: number
  readonly released_at?: string
  readonly not_released_reason?: "requested" | "partially_refunded" | "not_owned" | "minted" | "mint_permitted" | "in_transfer" | "opened"
}

export interface DisplayOrderPaymentMethodData {
  readonly method: "CryptoCommerce" | "CardCheckout"
  readonly methods: ReadonlyArray<{
    readonly address: string
    readonly amount: number
    readonly currency: string
    readonly title: string
  }>
  readonly client_secret: string
  readonly payment_intent_id: string
  readonly cancel_url?: string
  readonly success_url?: string
  readonly invoice_id?: string
  readonly session_id?: string
  readonly checkout_url?: string
}

export interface DisplayRefund {
  readonly id: string
  readonly order_id: string
  readonly amount_in_cents: number
  readonly status: "Pending" | "Refunded" | "Failed"
  readonly provider: string
  readonly item_ids: ReadonlyArray<string>
  readonly created_at: string
  readonly reason?: string
  readonly external_reference?: string
}

export interface DisplaySession {
  readonly id: string
  readonly status: "Pending" | "Verified" | "Stale" | "Locked"
  readonly created_at: string
  readonly last_used_at: string
  readonly expires_at: string
  readonly device?: string
  readonly address?: string
  readonly current: boolean
}

export interface DisplayTransferRequest {
  readonly id: string
  readonly eid: string
  readonly email: string
  readonly recipient_id: string
  readonly clear_on_transfer: boolean
  readonly created_at: string
  readonly accepted_at?: string
  readonly deleted_at?: string
  readonly sender_code_accepted_at?: string
  readonly message?: string
  readonly status: "AwaitingSender" | "AwaitingReceiver" | "Accepted" | "Deleted" | "Expired"
  readonly sender_id: string
  readonly sender_email?: string
  readonly expires_at: string
}

export interface DisplayUser {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly free_limit: number
  readonly remaining_free_emoji: number
  readonly pubkeys: ReadonlyArray<string>
  readonly role: Role
  readonly two_factor_should_prompt: boolean
  readonly is_active: boolean
  readonly alternate_id?: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly source?: string
  readonly deactivated_at?: string
  readonly email_verified_at?: string
  readonly two_factor_last_prompted_at?: string
  readonly two_factor_auth?: ReadonlyArray<TwoFactorProvider>
  readonly partner_conversion_id?: string
  readonly partner_transaction_id?: string
}

export interface DisplayUserExtended {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly free_limit: number
  readonly remaining_free_emoji: number
  readonly pubkeys: ReadonlyArray<string>
  readonly role: Role
  readonly two_factor_should_prompt: boolean
  readonly is_active: boolean
  readonly alternate_id?: string
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly source?: string
  readonly deactivated_at?: string
  readonly email_verified_at?: string
  readonly two_factor_last_prompted_at?: string
  readonly two_factor_auth?: ReadonlyArray<TwoFactorProvider>
  readonly partner_conversion_id?: string
  readonly partner_transaction_id?: string
  /** Oldest first. At most 5,000 ids for a single user, and at most 200 ids for each user in a list. GET /emoji_id?user_id= returns all of them in pages. */
  readonly emoji_ids: ReadonlyArray<string>
}

export interface EditRequest {
  /** The records to add. A record of a single-value category replaces the record of the same category. If the list has several of one category, the last one is stored. */
  readonly insert?: ReadonlyArray<RecordInput> | null
  /** The hashes of the records to remove. The id must have all of them. */
  readonly delete?: ReadonlyArray<string> | null
  /** If true, a new record of a single-value category replaces nothing: the id then has several. Mark one of them as the default. */
  readonly bypass_single_restrictions?: boolean | null
  /** The Merkle root of the hashes of all records that the id has after this edit, as 64 hex digits. The edit is refused if it is another one. It protects against edits by others that you have not seen. */
  readonly merkle_root?: string | null
  /** The Ed25519 signature of the bytes of `merkle_root`, as 128 hex digits, by the key that owns the id. Required with `merkle_root`, unless the service keeps the key. */
  readonly signature?: string | null
}

export interface EmojiListItem {
  readonly canonical_format: string
  readonly chain_format: string
  readonly display_format: string
  readonly shortname: string
  readonly flippable_emoji: ReadonlyArray<boolean>
  /** Always 0. It has no known meaning. */
  readonly generation: number
  readonly rhythm_score: number
  /** Whether the id is minted as a token. Administrators record it. */
  readonly minted: boolean
  readonly shape: ShapeMatch
  readonly blocked_until?: string
  readonly token_id?: number
  readonly version: number
}

export interface EmojiStatsResponse {
  readonly emoji_id: string
  readonly metrics: ReadonlyArray<Metric>
}

export interface Enable2FABody {
  readonly default?: boolean | null
  readonly provider: TwoFactorProvider
  readonly phone?: string | null
}

export interface Enable2FAResponse {
  readonly backup_codes?: ReadonlyArray<string>
  readonly ga_qr_code_svg?: string
  readonly ga_secret?: string
  readonly phone_last_digits?: string
}

export interface ErrorFrame {
  readonly type: "error"
  readonly code: "bad_frame" | "not_connected" | "user_changed" | "unknown_channel" | "login_required" | "forbidden" | "not_found" | "too_many_subscriptions" | "too_large" | "unavailable"
  readonly error: string
  readonly channel?: string
  readonly id?: string
}

export type EventActor = "self" | "anonymous" | "administrator" | "operator" | "service"

export interface EventFrame {
  readonly type: "event"
  readonly channel: string
  readonly offset: number
  /** The type of the event, for example `cart.expired`. */
  readonly event: string
  readonly data: unknown
  readonly at: string
}

export interface Feature {
  readonly code: string
  readonly id: string
  readonly description: string
  readonly created_at: string
}

export interface FieldProblem {
  readonly error: string
  readonly code: string
  readonly request_id: string
  readonly fields: { readonly [name: string]: ReadonlyArray<{
    readonly code: string
    readonly message: string
  }> }
}

export interface GrantRequest {
  readonly grant_type: "authorization_code" | "refresh_token"
  readonly client_id?: string
  readonly client_secret?: string
  readonly code?: string
  readonly redirect_uri?: string
  readonly code_verifier?: string
  readonly refresh_token?: string
  readonly scope?: "svc"
}

export interface GrantResponse {
  readonly access_token: string
  readonly refresh_token: string
  readonly token_type: "SvcAccessToken"
  readonly expires_in: number
  readonly scope: "svc"
}

export interface GrantedApplication {
  readonly client_id: string
  readonly name: string
  readonly emoji_ids: ReadonlyArray<string>
  readonly scopes: ReadonlyArray<Scope>
  readonly granted_at: string
  readonly last_used_at: string
  readonly expires_at: string
}

/** What was changed. Only for the owner, and only for the time of this owner. */
export interface HistoryChanges {
  readonly added?: ReadonlyArray<HistoryRecord>
  readonly removed?: ReadonlyArray<HistoryRecord>
  readonly store_key?: string
  /** Whether the owner signed the records of this version. */
  readonly signed?: boolean
  readonly owner?: {
    readonly before: "current" | "other"
    readonly after: "current" | "other"
  }
  readonly pubkey?: {
    readonly before: string | null
    readonly after: string | null
  }
}

export interface HistoryEntry {
  /** The version of the id after the change. Null for a change before `complete_since`. */
  readonly version: number | null
  /** registered: the id was registered. records: records were added or removed. data: an entry of the JSON store was written. signature: the records were signed again. owner: the id got another owner. key: the id got another key of the same owner. minted, burned: its token was recorded or destroyed. */
  readonly kind: "registered" | "records" | "data" | "signature" | "owner" | "key" | "minted" | "burned"
  readonly at: string
  readonly changes?: HistoryChanges
}

export interface HistoryRecord {
  readonly tag: string
  readonly hash: string
  /** Missing if the change has more than 16 KB of data. Payment addresses are kept first. */
  readonly data?: string
}

export interface HistoryResponse {
  /** `owner`: the entries contain `changes`, because the caller may read them. */
  readonly view: "public" | "owner"
  readonly version: number
  /** All changes since this time are listed. Of earlier ones, the list has what is still known. */
  readonly complete_since: string
  readonly result: ReadonlyArray<HistoryEntry>
}

export interface ListOfCodeAvailability {
  readonly data: ReadonlyArray<CodeAvailability>
  readonly paging: Paging
}

export interface ListOfDisplayOrder {
  readonly data: ReadonlyArray<DisplayOrder>
  readonly paging: Paging
}

export interface ListOfDisplayTransferRequest {
  readonly data: ReadonlyArray<DisplayTransferRequest>
  readonly paging: Paging
}

export interface ListOfDisplayUserExtended {
  readonly data: ReadonlyArray<DisplayUserExtended>
  readonly paging: Paging
}

export interface ListOfOrganization {
  readonly data: ReadonlyArray<Organization>
  readonly paging: Paging
}

export interface ListOfPublicLootBox {
  readonly data: ReadonlyArray<PublicLootBox>
  readonly paging: Paging
}

export interface ListOfSecurityLogEntry {
  readonly data: ReadonlyArray<SecurityLogEntry>
  readonly paging: Paging
}

export interface ListOfUserInterest {
  readonly data: ReadonlyArray<UserInterest>
  readonly paging: Paging
}

export interface LiveLookupResult {
  readonly emoji_id: string
  readonly canonical: string | null
  readonly status: boolean
  readonly result: ReadonlyArray<{
    readonly tag: string
    readonly data: string
    readonly hash: string
  }>
  readonly error: {
    readonly code: string
    readonly reason: string
  } | null
  /** The public key that owns the emoji id. Null if there is none. */
  readonly pubkey: string | null
  /** The version of the emoji id. It increases with every change of the emoji id. */
  readonly version: number
  /** A signed statement about this result, as a compact JWS. Only if it was requested. */
  readonly proof?: string
}

export interface LoadJsonResponse {
  readonly created_at: string
  readonly updated_at: string
  readonly data: unknown
  readonly is_locked: boolean
  readonly locked_future_writes_at?: string
}

export interface LoadUser {
  readonly current_user: CurrentUser
  /** The different generations of the ids in `extended_list`: [0], or empty for a user without ids. */
  readonly editions: ReadonlyArray<number>
  readonly extended_list: ReadonlyArray<EmojiListItem>
  readonly incoming_transfers: ReadonlyArray<DisplayTransferRequest>
  readonly outgoing_transfers: ListOfDisplayTransferRequest
  readonly wallets: ReadonlyArray<Wallet>
  readonly partner_transaction_id?: string
  readonly sidebar?: unknown
}

export interface LoginRequest {
  readonly email?: string | null
  readonly alternate_id?: string | null
  readonly password: string
  readonly g_recaptcha_response?: string | null
}

export interface LookupError {
  readonly code: string
  readonly reason: string
}

export interface LookupFrame {
  readonly type: "lookup"
  readonly id?: string | null
  readonly emoji_ids: ReadonlyArray<string>
  /** If true, each result has a proof. */
  readonly proof?: boolean | null
}

export interface LookupProblem {
  readonly error: string
}

export interface LookupResponse {
  readonly status: boolean
  readonly result: ReadonlyArray<DirectoryRecord>
  readonly error: LookupError | null
  readonly stats: ReadonlyArray<Metric>
  readonly owner_changed_at?: string
  readonly version: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export interface LootBoxGenerationRequest {
  readonly loot_box_type_id: string
  readonly num_boxes: number
}

/** Every box contains this many ids with a score in this range. */
export interface LootBoxGuarantee {
  readonly count: number
  readonly min_score: number
  readonly max_score: number
}

export interface LootBoxSet {
  readonly loot_boxes: ReadonlyArray<PublicLootBox>
  readonly num_requested: number
}

export type LootBoxStatus = "Draft" | "Available" | "Owned" | "Used"

export interface LootBoxTypeConfig {
  readonly size: number
  readonly min_length: number
  readonly max_length: number
  readonly min_base_score: number
  readonly max_base_score: number
  readonly guarantees: ReadonlyArray<LootBoxGuarantee>
  readonly weights: ReadonlyArray<LootBoxWeight>
}

/** Each id that is not guaranteed has a score in this range with a chance of 1 in `ipr`. If no weight applies, its score is in the base range. If the chances sum to more than 1, they are scaled down proportionally. */
export interface LootBoxWeight {
  readonly ipr: number
  readonly min_score: number
  readonly max_score: number
}

export interface MagicLinkConsumeRequest {
  readonly token: string
  readonly password?: string | null
  readonly discard_credentials?: boolean | null
}

export interface MagicLinkLoginRequest {
  readonly email?: string | null
  readonly user_id?: string | null
  readonly redirect?: string | null
  readonly g_recaptcha_response?: string | null
}

export interface MagicLinkLoginResponse {
  readonly message: string
  readonly status: "Active" | "RegisteredInactive" | "RegisteredActive" | "Inactive"
}

export interface MarketItem {
  readonly emoji_id: string
  readonly availability: Availability
  readonly available: boolean
  readonly flippable_emoji: ReadonlyArray<boolean>
  readonly length: number
  readonly minted: boolean
  readonly rhythm_score: number
  readonly shape: ShapeMatch
  readonly short_names: ReadonlyArray<string>
  readonly stats: ReadonlyArray<Metric>
  /** Always 0. It has no known meaning. */
  readonly generation?: number
  readonly price?: number
}

export interface MarketParameters {
  readonly points: PriceParameters
  readonly coming_soon_lengths: ReadonlyArray<number>
  readonly unpriced_lengths: ReadonlyArray<number>
}

export interface Metric {
  readonly metric: string
  readonly description: string
  readonly key: string
  readonly value: number
  readonly start_date: string
  readonly finish_date: string
}

export interface MintedRequest {
  readonly minted: boolean
  readonly token_id?: number | null
}

export interface NewCode {
  readonly name: string
  readonly code_type: "Discount" | "RandomYat"
  readonly activator?: "RedemptionCode" | "SecretKey" | null
  readonly redemption_code?: string | null
  readonly organization_id?: string | null
  readonly discount_as_percentage?: number | null
  readonly discount_in_cents?: number | null
  readonly max_uses?: number | null
  readonly max_emojis_per_user?: number | null
  readonly pattern?: unknown
  readonly start_date?: string | null
  readonly end_date?: string | null
}

export interface NewFeature {
  readonly code: string
  readonly description?: string | null
}

export interface NewOauthClient {
  readonly name: string
  readonly redirect_uris: ReadonlyArray<string>
  readonly organization_id?: string | null
}

export interface NewOrganization {
  readonly name: string
  readonly partner_path?: string | null
  readonly return_link?: string | null
  readonly client_fee_basis_points?: number | null
  readonly company_fee_basis_points?: number | null
}

export interface NewUserInterestParameters {
  readonly emoji_id: string
}

export interface OauthClient {
  readonly client_id: string
  readonly name: string
  readonly redirect_uris: ReadonlyArray<string>
  readonly organization_id?: string
  readonly created_at: string
  readonly updated_at: string
}

export interface OauthClientWithSecret {
  readonly client_id: string
  readonly name: string
  readonly redirect_uris: ReadonlyArray<string>
  readonly organization_id?: string
  readonly created_at: string
  readonly updated_at: string
  readonly client_secret: string
}

export interface OauthProblem {
  readonly error: string
  readonly error_description: string
}

export interface Organization {
  readonly id: string
  readonly name: string
  readonly partner_path?: string
  readonly return_link?: string
  readonly client_fee_basis_points: number
  readonly company_fee_basis_points: number
  readonly created_at: string
  readonly updated_at: string
}

export interface OrganizationBranding {
  readonly organization_id: string
  readonly name: string
  readonly currencies: ReadonlyArray<string>
  readonly return_link: string
  readonly requires_email: boolean
  readonly logo?: string
  readonly logo_small?: string
  readonly logo_thumbnail?: string
  readonly created_at: string
  readonly updated_at: string
}

export interface OrganizationMember {
  readonly user_id: string
  readonly role: "OrgOwner" | "OrgController" | "OrgMember"
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly created_at: string
}

export interface Paging {
  readonly dir: "Asc" | "Desc"
  readonly limit: number
  readonly page: number
  readonly sort: string
  readonly tags: { readonly [name: string]: unknown }
  readonly total: number
  readonly total_is_estimate?: true
  readonly next?: string
  readonly previous?: string
}

export interface PasswordResetConfirmRequest {
  readonly token: string
  readonly password: string
}

export interface PasswordResetRequest {
  readonly email: string
  readonly redirect?: string | null
  readonly g_recaptcha_response?: string | null
}

export interface PaymentAddress {
  /** The address as a wallet pastes it. */
  readonly address: string
  /** The tag of the record, for example `0x1003`. */
  readonly category: string
  /** Whether the owner marked the record as the default. */
  readonly default: boolean
  readonly description?: string
  readonly long_name?: string
  readonly settlement_network?: string
  readonly short_name?: string
  readonly signature?: string
}

export interface PaymentAddressResponse {
  readonly status: boolean
  readonly result: { readonly [name: string]: PaymentAddress }
  readonly error: LookupError | null
  readonly version: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export interface PaymentMethod {
  readonly id: string
  readonly payment_type: string
  readonly brand?: string
  readonly country?: string
  readonly last4?: string
  readonly exp_month?: number
  readonly exp_year?: number
  readonly is_default?: boolean
}

export interface PaymentOverrideRequest {
  readonly amount: number
  readonly external_reference: string
}

export interface PingFrame {
  readonly type: "ping"
  readonly id?: string | null
}

export interface PongFrame {
  readonly type: "pong"
  readonly id?: string
}

export type PriceParameters = ReadonlyArray<{
  readonly score: number
  readonly price_in_cents: number
}>

export interface Problem {
  readonly error: string
  readonly code: string
  readonly request_id: string
  readonly fields?: { readonly [name: string]: ReadonlyArray<{
    readonly code: string
    readonly message: string
  }> }
}

export interface ProofKey {
  readonly kty: "OKP"
  readonly crv: "Ed25519"
  readonly x: string
  readonly kid: string
  readonly use: "sig"
  readonly alg: "EdDSA"
  /** Unix time in seconds. No proof of the key was issued before. */
  readonly not_before: number
  /** Unix time in seconds. No proof of the key expires later. Null while the end is not known. */
  readonly not_after: number | null
}

export interface ProofKeys {
  /** The claim `origin` of every proof of this service. */
  readonly origin: string
  readonly proof_lifetime_seconds: number
  /** The newest key first. */
  readonly keys: ReadonlyArray<ProofKey>
  readonly links: {
    readonly api: string
    readonly docs: string
  }
}

export interface ProxyCallParameters {
  readonly service: "Echo" | "Scraper"
  readonly data?: string | null
}

export interface ProxyResult {
  readonly json: { readonly [name: string]: unknown }
  readonly value: string
}

export interface PublicLootBox {
  readonly id: string
  readonly created_at: string
  readonly status: LootBoxStatus
  readonly prices: ReadonlyArray<number>
  readonly scores: ReadonlyArray<number>
  readonly average_rhythm_score: number
  readonly total_value: number
  readonly yats: ReadonlyArray<string>
  readonly lootbox_type?: PublicLootBoxType
  readonly lootbox_type_id?: string
  readonly owner?: DisplayUser
  readonly owner_id?: string
  readonly opened_at?: string
}

export interface PublicLootBoxType {
  readonly id: string
  readonly created_at: string
  readonly name: string
  readonly description: string
  readonly config: LootBoxTypeConfig
}

export interface RandomResult {
  readonly result: ReadonlyArray<MarketItem>
}

export interface RandomYatActivateBody {
  readonly nonce: string
  readonly pubkey: string
  readonly signature: string
  readonly tracking_data?: unknown
}

export interface Received {
  readonly received: boolean
}

export interface RecentEvent {
  readonly channel: string
  readonly offset: number
  readonly event: string
  readonly data: unknown
  readonly at: string
}

export interface RecentEvents {
  readonly data: ReadonlyArray<RecentEvent>
  readonly before?: string
  readonly after?: string
}

export interface RecentlyPurchasedResult {
  readonly result: ReadonlyArray<MarketItem>
}

export interface RecordInput {
  /** The category: `0x` and one to four hex digits, for example `0x1003` for Bitcoin. The page Records lists all tags. */
  readonly tag: string
  /** The value, with at most 4096 bytes. Its form depends on the tag: an address, a URL, a key or a text. */
  readonly data: string
}

export interface RecordsFrame {
  readonly type: "records"
  readonly id?: string
  readonly results: ReadonlyArray<LiveLookupResult>
}

export interface RefreshRequest {
  readonly refresh_token: string
}

export interface RefundOverrideRequest {
  readonly amount: number
  readonly external_reference: string
  readonly reason?: string | null
}

export interface RefundRequest {
  readonly item_ids?: ReadonlyArray<string> | null
  readonly amount?: number | null
  readonly reason?: string | null
  readonly keep_ids?: boolean | null
}

export interface RegisterEmojiIdRequest {
  readonly emoji_id: string
  readonly user_id?: string | null
  readonly email?: string | null
  readonly pubkey?: string | null
}

export interface RegisterUserParameters {
  readonly email?: string | null
  readonly alternate_id?: string | null
  readonly password?: string | null
  readonly source?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly activate?: boolean | null
  readonly activation_source?: string | null
  readonly partner_conversion_id?: string | null
  readonly partner_transaction_id?: string | null
  readonly g_recaptcha_response?: string | null
}

export interface ResentCode {
  readonly status: "AwaitingSender" | "AwaitingReceiver" | "Accepted" | "Deleted" | "Expired"
  readonly resend_after: string
}

export interface ResolveItem {
  readonly emoji_id: string
  /** The ticker of a coin or token, for example BTC or USDC. */
  readonly asset: string
  readonly network?: string | null
}

export interface ResolveResponse {
  readonly status: true
  readonly asset: string
  readonly network: string
  /** The address as a wallet pastes it. An Ethereum-style address has 0x and an EIP-55 checksum. */
  readonly address: string
  /** The memo or destination tag that the payment needs. Never send without it. */
  readonly memo?: string
  /** The record that has the address. */
  readonly record: {
    readonly tag: string
    readonly hash: string
  }
  /** The rule that selected the record. */
  readonly rule: ResolveRule
  readonly warnings: ReadonlyArray<ResolveWarning>
  readonly error: null
  readonly version: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export type ResolveRule = "token_record" | "asset_record" | "generic_record" | "account_record"

export interface ResolveWarning {
  readonly code: ResolveWarningCode
  readonly message: string
  /** When the id got its owner. Only with `owner_changed`. */
  readonly changed_at?: string
  /** The networks on which the id has an address for the asset. Only with `other_networks`. */
  readonly networks?: ReadonlyArray<string>
}

export type ResolveWarningCode = "owner_changed" | "other_networks"

export interface RhythmResponse {
  readonly rhythm: number
}

export type Role = "Admin" | "OrgController" | "OrgMember" | "OrgOwner" | "Bot" | "Super" | "User"

/** Reserved scopes, which no operation needs: adminEmoji:updateFeatures, adminInvites:write, adminInvites:list, adminNotifications:write, edition:delete, edition:read, edition:write, emojiGroups:delete, emojiGroups:read, emojiGroups:write, nftTransfer:read, domainAction:read, token:refresh, auth:twoFactor, userEmail:verify. */
export type Scope = "adminCart:update" | "adminEmoji:destroy" | "adminEmoji:load" | "adminEmoji:register" | "adminEmoji:transfer" | "adminEmoji:updateFeatures" | "adminEmoji:updateSecureData" | "adminEmoji:write" | "adminFeatureUser:read" | "adminInvites:write" | "adminInvites:list" | "adminLootbox:read" | "adminLootbox:write" | "adminNotifications:write" | "adminUser:bypass2fa" | "adminUser:load" | "adminUser:loginAs" | "adminUser:twoFactorAuthDestroy" | "adminUser:roleUpdate" | "adminPriceParameters:read" | "adminPriceParameters:write" | "cart:show" | "cart:update" | "order:paymentOverride" | "order:read" | "order:readSelf" | "order:refund" | "order:refundOverride" | "order:resendConfirmation" | "refund:read" | "paymentMethod:destroy" | "paymentMethod:read" | "paymentMethod:setDefault" | "code:delete" | "code:read" | "code:write" | "edition:delete" | "edition:read" | "edition:write" | "emojiGroups:delete" | "emojiGroups:read" | "emojiGroups:write" | "feature::delete" | "feature::read" | "feature::write" | "lootbox:use" | "organization:admin" | "organizationCode:admin" | "organizationEmoji:list" | "organizationEmoji:write" | "organizationList:read" | "organization:read" | "organizationUser:admin" | "organizationUser:read" | "organization:write" | "nftSignature:write" | "nftToken:destroy" | "nftTransfer:read" | "domainAction:read" | "domainEvent:read" | "emoji::transfer" | "user:createApiKey" | "token:refresh" | "auth:twoFactor" | "user:activate" | "userData:update" | "user:delete" | "user:deleteSelf" | "userEmail:verify" | "userEmoji:list" | "userInterest:delete" | "userInterest:read" | "userInterest:write" | "user:list" | "userPubkeys:list" | "userPubkeys:write" | "user:show" | "user:write" | "user:writeSelf"

export interface SearchResult {
  readonly result: MarketItem
  readonly alternates: ReadonlyArray<MarketItem>
}

export interface SecurityLogEntry {
  readonly id: string
  readonly event: "login.succeeded" | "login.code_required" | "login.failed" | "login.locked" | "two_factor.failed" | "two_factor.locked" | "two_factor.enabled" | "two_factor.disabled" | "password.changed" | "password.reset_requested" | "password.reset" | "email.changed" | "credentials.discarded" | "api_key.created" | "api_key.deleted" | "pubkey.added" | "wallet.added" | "role.changed" | "account.activated" | "account.deactivated" | "account.deleted" | "session.ended" | "sessions.ended" | "application.authorized" | "application.revoked" | "mint.signed" | "mint.recorded" | "mint.removed" | "transfer.forced" | "organization.role_changed" | "organization.left" | "organization.return_link_changed" | "organization.fees_changed" | "order.refunded" | "order.refund_overridden" | "order.payment_overridden" | "order.cash_booked"
  readonly text: string
  readonly created_at: string
  readonly last_at: string
  readonly count: number
  readonly actor: EventActor
  readonly actor_id?: string
  readonly address?: string
  readonly user_agent?: string
  readonly details: { readonly [name: string]: unknown }
}

export interface SetCodeBudget {
  readonly budget_in_cents: number
}

export interface SetOrganizationMember {
  readonly role: "OrgOwner" | "OrgController" | "OrgMember"
  readonly email?: string | null
}

export interface ShapeMatch {
  readonly shape?: "Repeaters" | "Eye Heart" | "Bookends" | "Adoptables"
  readonly pattern?: {
    readonly original: string
    readonly value: string
    readonly match_indexes: ReadonlyArray<number>
  }
}

export interface SignatureRequest {
  readonly account: string
  readonly expiry?: number | null
}

export interface SignatureResponse {
  readonly account: string
  readonly expiry: number
  readonly signature: string
  readonly token: string
}

export interface StoreJsonBody {
  readonly data: unknown
  readonly linked_tags?: ReadonlyArray<RecordInput> | null
  readonly locked_future_writes_at?: string | null
}

export type StoreKey = "SvcPageData" | "SvcLinkData" | "VisualizerData" | "VisualizerName" | "VisualizerFileLocations"

export interface SubscribeFrame {
  readonly type: "subscribe"
  readonly channel: string
  readonly epoch?: string | null
  readonly offset?: number | null
  /** If true, the states of an `emoji_id` channel have a proof. Other channels ignore it. */
  readonly proof?: boolean | null
}

export interface SubscribedFrame {
  readonly type: "subscribed"
  readonly channel: string
  readonly requested?: string
  readonly epoch: string
  readonly offset: number
  readonly recovered: boolean
  readonly state?: unknown
}

export interface SuccessResponse {
  readonly message: string
}

export interface SuccessResponse2FA {
  readonly message: string
  readonly phone_last_digits?: string
}

export interface TickerResponse {
  readonly status: boolean
  readonly result: ReadonlyArray<DirectoryRecord>
  readonly error: LookupError | null
  readonly version: number
  /** A signed statement about the answer, as a compact JWS. Only with `proof=true`. */
  readonly proof?: string
}

export interface TokenMetadata {
  readonly name: string
  readonly description: string
  readonly image: string
  readonly animation_url: string
  readonly external_link: string
  readonly attributes: ReadonlyArray<{
    readonly trait_type: string
    readonly value: unknown
  }>
}

export interface TokenResponse {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly has_password: boolean
  readonly requires_2fa?: TwoFactorProvider
}

export interface TransferRequest {
  readonly eid: string
  readonly email?: string | null
  readonly pubkey?: string | null
  readonly clear_on_transfer?: boolean | null
  readonly force_transfer?: boolean | null
  readonly message?: string | null
}

export type TwoFactorProvider = "AuthenticatorApp" | "SMS"

export interface UnsubscribeFrame {
  readonly type: "unsubscribe"
  readonly channel: string
}

export interface UnsubscribedFrame {
  readonly type: "unsubscribed"
  readonly channel: string
  readonly reason: "asked" | "not_allowed"
}

export interface UpdateAccountResponse {
  readonly features: ReadonlyArray<DisplayFeature>
  readonly global_scopes: ReadonlyArray<Scope>
  readonly organization_roles: { readonly [name: string]: Role }
  readonly organization_scopes: { readonly [name: string]: ReadonlyArray<Scope> }
  readonly pending_transfers: ReadonlyArray<string>
  readonly pubkeys: ReadonlyArray<string>
  readonly role: Role
  readonly user: DisplayUser
  readonly partner_transaction_id?: string
  readonly token_response?: TokenResponse
}

export interface UpdateOauthClient {
  readonly name?: string | null
  readonly redirect_uris?: ReadonlyArray<string> | null
}

export interface UpdateOrganization {
  readonly name?: string | null
  readonly partner_path?: string | null
  readonly return_link?: string | null
  readonly client_fee_basis_points?: number | null
  readonly company_fee_basis_points?: number | null
}

export interface UpdateOrganizationBranding {
  readonly currencies: ReadonlyArray<string>
  readonly return_link?: string | null
  readonly logo?: string | null
  readonly logo_small?: string | null
  readonly logo_thumbnail?: string | null
  readonly requires_email?: boolean | null
}

export interface UpdateUserParameters {
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly email?: string | null
  readonly password?: string | null
  readonly current_password?: string | null
  readonly revoke_api_keys?: boolean | null
}

export interface UserInterest {
  readonly id: string
  readonly user_id: string
  readonly emoji_id: string
  readonly created_at: string
  readonly updated_at: string
}

export interface Version {
  readonly version: string
  readonly commit: string | null
  readonly contract_version: string
  readonly schema_version: string
  readonly database_schema_version: string | null
}

export interface Wallet {
  readonly eth_address: string
  readonly user_id: string
}

export interface WalletChallenge {
  readonly message: string
  readonly source: "Mint" | "Dashboard"
}

export interface WalletSyncRequest {
  readonly signature: string
  readonly source: "Mint" | "Dashboard"
}

export type ClientFrame = ConnectFrame | SubscribeFrame | UnsubscribeFrame | LookupFrame | PingFrame

export type ServerFrame = ConnectedFrame | SubscribedFrame | UnsubscribedFrame | EventFrame | RecordsFrame | ErrorFrame | PongFrame

/** The codes of errors. */
export type ErrorCode = "body_too_large" | "conflict" | "forbidden" | "internal" | "invalid_request" | "method_not_allowed" | "network_required" | "no_address" | "not_found" | "refused_by_state" | "too_many_requests" | "two_factor_required" | "unauthorized" | "unavailable" | "unknown_asset" | "unknown_network" | "unprocessable" | "unsupported_emoji" | "upgrade_required"

/** The operations, by method and path. */
export interface Operations {
  /** Check that the process is alive. */
  readonly "GET /health": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Alive
  }
  /** Check that the process can serve traffic. */
  readonly "GET /ready": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: {
      readonly status: "ready"
      readonly checks: { readonly [name: string]: string }
    }
  }
  /** Get the Prometheus metrics of all workers. */
  readonly "GET /metrics": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Get the versions of the service, the API contract and the database schema. */
  readonly "GET /version": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Version
  }
  /** Get the OpenAPI 3.1 document of this API. */
  readonly "GET /openapi.json": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: unknown
  }
  /** Get the AsyncAPI 3.1 document of the WebSocket protocol. */
  readonly "GET /asyncapi.json": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: unknown
  }
  /** Show the API reference. */
  readonly "GET /docs": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Receive live updates over WebSocket, see /asyncapi.json. */
  readonly "GET /live": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: undefined
  }
  /** Show the console page. With emoji_id, include the lookup result. */
  readonly "GET /": {
    readonly params: {}
    readonly query: { readonly emoji_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Redirect to the console's search. With eid, search for this id. */
  readonly "GET /create": {
    readonly params: {}
    readonly query: { readonly eid?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** List recent events, newest first. */
  readonly "GET /admin/events": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly kind?: string; readonly before?: string; readonly after?: string }
    readonly body: undefined
    readonly answer: RecentEvents
  }
  /** Get the key figures: ids, sales, open holds, waiting mail, live sockets. */
  readonly "GET /admin/figures": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: AdminFigures
  }
  /** Look up the records of an emoji id, optionally filtered by tags. */
  readonly "GET /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly tags?: string; readonly proof?: boolean }
    readonly body: undefined
    readonly answer: LookupResponse
  }
  /** Add and remove records of an emoji id. */
  readonly "PATCH /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: EditRequest
    readonly answer: ReadonlyArray<string>
  }
  /** Remove an emoji id from the directory. */
  readonly "DELETE /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Look up one payment address per category. */
  readonly "GET /emoji_id/{emoji_id}/payment": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly tags?: string; readonly proof?: boolean }
    readonly body: undefined
    readonly answer: PaymentAddressResponse
  }
  /** Check whether an emoji id still has this address or data. */
  readonly "GET /emoji_id/{emoji_id}/confirm": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly tag: string; readonly data: string }
    readonly body: undefined
    readonly answer: Confirmation
  }
  /** Look up the records of an emoji id for one ticker. */
  readonly "GET /emoji_id/{emoji_id}/{tag}": {
    readonly params: { readonly emoji_id: string; readonly tag: string }
    readonly query: { readonly proof?: boolean }
    readonly body: undefined
    readonly answer: TickerResponse
  }
  /** Look up a list of up to 100 emoji ids. */
  readonly "POST /emoji_id/lookup": {
    readonly params: {}
    readonly query: { readonly proof?: boolean }
    readonly body: BatchLookupRequest
    readonly answer: BatchLookupResponse
  }
  /** Get the address to which a wallet sends an asset on a network. */
  readonly "GET /emoji_id/{emoji_id}/resolve": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly asset: string; readonly network?: string; readonly proof?: boolean }
    readonly body: undefined
    readonly answer: ResolveResponse
  }
  /** Get the addresses for up to 100 pairs of an emoji id and an asset. */
  readonly "POST /emoji_id/resolve": {
    readonly params: {}
    readonly query: { readonly proof?: boolean }
    readonly body: BatchResolveRequest
    readonly answer: BatchResolveResponse
  }
  /** List the changes of an emoji id, newest first. */
  readonly "GET /emoji_id/{emoji_id}/history": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: HistoryResponse
  }
  /** Get the public keys that verify signed answers. */
  readonly "GET /.well-known/emoji-id-directory": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ProofKeys
  }
  /** List the supported emoji. */
  readonly "GET /emoji": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Get the shape and pattern of an emoji id, registered or not. */
  readonly "GET /emoji_id/{emoji_id}/metadata": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ShapeMatch
  }
  /** Get the rhythm score of an emoji id, 1 to 100. */
  readonly "GET /emoji_id/{emoji_id}/rhythm": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: RhythmResponse
  }
  /** Get the number of lookups of an emoji id, in total and per day. */
  readonly "GET /emoji_id/{emoji_id}/stats": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: EmojiStatsResponse
  }
  /** List your emoji ids, or those of a user (admins) or organization (power roles). */
  readonly "GET /emoji_id": {
    readonly params: {}
    readonly query: { readonly organization_id?: string; readonly user_id?: string; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Register an emoji id for a user. */
  readonly "POST /emoji_id": {
    readonly params: {}
    readonly query: {}
    readonly body: RegisterEmojiIdRequest
    readonly answer: EmojiListItem
  }
  /** List emoji ids with their formats, rhythm score, shape and token id. */
  readonly "GET /emoji_id/extended": {
    readonly params: {}
    readonly query: { readonly organization_id?: string; readonly user_id?: string; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<EmojiListItem>
  }
  /** List random emoji ids that are for sale. */
  readonly "GET /emoji_id/random": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly min_length?: number; readonly max_length?: number; readonly min_price?: number; readonly max_price?: number }
    readonly body: undefined
    readonly answer: RandomResult
  }
  /** List recently purchased emoji ids, newest first. */
  readonly "GET /emoji_id/recent": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: RecentlyPurchasedResult
  }
  /** Get the price and availability of an emoji id, and available alternatives. */
  readonly "GET /emoji_id/search": {
    readonly params: {}
    readonly query: { readonly emoji_id: string }
    readonly body: undefined
    readonly answer: SearchResult
  }
  /** Get the data stored under several keys of an emoji id. */
  readonly "GET /emoji_id/{emoji_id}/json": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly keys: string }
    readonly body: undefined
    readonly answer: { readonly [name: string]: LoadJsonResponse }
  }
  /** Get the data stored under one key of an emoji id, or an empty object. */
  readonly "GET /emoji_id/{emoji_id}/json/{key}": {
    readonly params: { readonly emoji_id: string; readonly key: StoreKey }
    readonly query: {}
    readonly body: undefined
    readonly answer: LoadJsonResponse
  }
  /** Store data under a key and replace its linked records. */
  readonly "POST /emoji_id/{emoji_id}/json/{key}": {
    readonly params: { readonly emoji_id: string; readonly key: StoreKey }
    readonly query: {}
    readonly body: StoreJsonBody
    readonly answer: LoadJsonResponse
  }
  /** Redirect to a web link of an emoji id. */
  readonly "GET /redirect": {
    readonly params: {}
    readonly query: { readonly emoji_id: string; readonly link?: string }
    readonly body: undefined
    readonly answer: undefined
  }
  /** Generate a signature with which an account can mint your emoji id. */
  readonly "POST /emoji_id/{emoji_id}/generate_signature": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: SignatureRequest
    readonly answer: SignatureResponse
  }
  /** Get the token metadata of an emoji id. */
  readonly "GET /nft_transfers/metadata/{token_id}": {
    readonly params: { readonly token_id: number | string }
    readonly query: {}
    readonly body: undefined
    readonly answer: TokenMetadata
  }
  /** Record that an emoji id was minted, or that its token was destroyed. */
  readonly "PUT /emoji_id/{emoji_id}/minted": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: MintedRequest
    readonly answer: EmojiListItem
  }
  /** Get the prices per rhythm score and the lengths that are not for sale. */
  readonly "GET /price_parameters": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: MarketParameters
  }
  /** Set the prices and the lengths that are not for sale. */
  readonly "PUT /price_parameters": {
    readonly params: {}
    readonly query: {}
    readonly body: MarketParameters
    readonly answer: MarketParameters
  }
  /** Transfer an id to an email address or a pubkey. */
  readonly "POST /transfers": {
    readonly params: {}
    readonly query: {}
    readonly body: TransferRequest
    readonly answer: DisplayTransferRequest
  }
  /** List sent transfers. */
  readonly "GET /transfers": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "accepted_at" | "eid"; readonly accepted_after?: string; readonly sender_id?: string; readonly all?: boolean }
    readonly body: undefined
    readonly answer: ListOfDisplayTransferRequest
  }
  /** List received transfers. */
  readonly "GET /transfers/incoming": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly accepted?: boolean }
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplayTransferRequest>
  }
  /** Delete a transfer that is not accepted yet. */
  readonly "DELETE /transfers/{transfer_id}": {
    readonly params: { readonly transfer_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayTransferRequest
  }
  /** Confirm a transfer as its sender. */
  readonly "POST /transfers/{transfer_id}/sender_accept": {
    readonly params: { readonly transfer_id: string }
    readonly query: {}
    readonly body: AcceptTransfer
    readonly answer: DisplayTransferRequest
  }
  /** Accept a transfer as its receiver. */
  readonly "POST /transfers/{transfer_id}/receiver_accept": {
    readonly params: { readonly transfer_id: string }
    readonly query: {}
    readonly body: AcceptTransfer
    readonly answer: ReadonlyArray<string>
  }
  /** Mail a new code to the party that has to confirm. */
  readonly "POST /transfers/{transfer_id}/resend_code": {
    readonly params: { readonly transfer_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ResentCode
  }
  /** Sign in with a password and an email or alternate_id. */
  readonly "POST /auth/token": {
    readonly params: {}
    readonly query: {}
    readonly body: LoginRequest
    readonly answer: TokenResponse
  }
  /** Exchange a refresh token for new tokens. */
  readonly "POST /auth/token/refresh": {
    readonly params: {}
    readonly query: {}
    readonly body: RefreshRequest
    readonly answer: TokenResponse
  }
  /** Verify a two-factor code. */
  readonly "POST /auth/2fa": {
    readonly params: {}
    readonly query: {}
    readonly body: Confirm2Fa
    readonly answer: TokenResponse
  }
  /** Mail a sign-in link. */
  readonly "POST /auth/magic_link": {
    readonly params: {}
    readonly query: {}
    readonly body: MagicLinkLoginRequest
    readonly answer: MagicLinkLoginResponse
  }
  /** Sign in with the token of a mailed link. */
  readonly "POST /auth/magic_link/consume": {
    readonly params: {}
    readonly query: {}
    readonly body: MagicLinkConsumeRequest
    readonly answer: TokenResponse
  }
  /** Mail a link that sets a new password. */
  readonly "POST /auth/password_reset": {
    readonly params: {}
    readonly query: {}
    readonly body: PasswordResetRequest
    readonly answer: SuccessResponse
  }
  /** Set a new password with the token of a mailed link. */
  readonly "POST /auth/password_reset/confirm": {
    readonly params: {}
    readonly query: {}
    readonly body: PasswordResetConfirmRequest
    readonly answer: TokenResponse
  }
  /** Sign out: end all sessions and access tokens of the user. */
  readonly "POST /logout": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse
  }
  /** Register a user. */
  readonly "POST /users": {
    readonly params: {}
    readonly query: {}
    readonly body: RegisterUserParameters
    readonly answer: TokenResponse
  }
  /** List users. */
  readonly "GET /users": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at" | "email" | "first_name" | "last_name" | "role"; readonly search?: string }
    readonly body: undefined
    readonly answer: ListOfDisplayUserExtended
  }
  /** Start the setup of a two-factor method. */
  readonly "POST /account/2fa/enable": {
    readonly params: {}
    readonly query: {}
    readonly body: Enable2FABody
    readonly answer: Enable2FAResponse
  }
  /** Start the setup of a two-factor method. */
  readonly "POST /account/2fa": {
    readonly params: {}
    readonly query: {}
    readonly body: Enable2FABody
    readonly answer: Enable2FAResponse
  }
  /** Confirm the setup of a two-factor method with its code. */
  readonly "POST /account/2fa/confirm": {
    readonly params: {}
    readonly query: {}
    readonly body: Confirm2FaUpdate
    readonly answer: SuccessResponse
  }
  /** Disable one or all two-factor methods. */
  readonly "POST /account/2fa/disable": {
    readonly params: {}
    readonly query: {}
    readonly body: Disable2FABody
    readonly answer: SuccessResponse
  }
  /** Disable two-factor authentication with a backup code. */
  readonly "POST /account/2fa/backup_disable": {
    readonly params: {}
    readonly query: {}
    readonly body: BackupDisableBody
    readonly answer: SuccessResponse
  }
  /** Send a two-factor code by SMS. */
  readonly "POST /account/2fa/sms_code": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse2FA
  }
  /** List the current user's sign-in sessions. */
  readonly "GET /account/sessions": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplaySession>
  }
  /** End one sign-in session of the current user. */
  readonly "DELETE /account/sessions/{session_id}": {
    readonly params: { readonly session_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse
  }
  /** Get the current user with roles, scopes and features. */
  readonly "GET /account": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: CurrentUser
  }
  /** Change the current user's names, email or password. */
  readonly "PATCH /account": {
    readonly params: {}
    readonly query: {}
    readonly body: UpdateUserParameters
    readonly answer: UpdateAccountResponse
  }
  /** Get the session data of a user. */
  readonly "GET /account/load": {
    readonly params: {}
    readonly query: { readonly user_id?: string; readonly organization_id?: string }
    readonly body: undefined
    readonly answer: LoadUser
  }
  /** Get a user. */
  readonly "GET /users/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayUserExtended
  }
  /** Update a user as an administrator. */
  readonly "PATCH /users/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: AdminUpdateUserParameters
    readonly answer: DisplayUser
  }
  /** Delete a user. */
  readonly "DELETE /users/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DeletedUser
  }
  /** Remove all two-factor methods of a user and end the user's sessions. */
  readonly "DELETE /users/{id}/2fa": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayUser
  }
  /** List the security events of your account. */
  readonly "GET /account/security_log": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" }
    readonly body: undefined
    readonly answer: ListOfSecurityLogEntry
  }
  /** List the security events of a user. */
  readonly "GET /users/{id}/security_log": {
    readonly params: { readonly id: string }
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" }
    readonly body: undefined
    readonly answer: ListOfSecurityLogEntry
  }
  /** List the features of the current user. */
  readonly "GET /user_features": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplayFeature>
  }
  /** List all features. */
  readonly "GET /features": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<Feature>
  }
  /** Create a feature. */
  readonly "POST /features": {
    readonly params: {}
    readonly query: {}
    readonly body: NewFeature
    readonly answer: Feature
  }
  /** Delete a feature and remove it from all users. */
  readonly "DELETE /features/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: Feature
  }
  /** List the features of a user. */
  readonly "GET /users/{user_id}/features": {
    readonly params: { readonly user_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplayFeature>
  }
  /** Assign a feature to a user. */
  readonly "PUT /users/{user_id}/features/{feature_id}": {
    readonly params: { readonly user_id: string; readonly feature_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayFeature
  }
  /** Remove a feature from a user. */
  readonly "DELETE /users/{user_id}/features/{feature_id}": {
    readonly params: { readonly user_id: string; readonly feature_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayFeature
  }
  /** Generate a custodial key and return its public key. */
  readonly "POST /pubkeys": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** List your public keys, oldest first. */
  readonly "GET /pubkeys": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Add a public key to your account. */
  readonly "POST /pubkeys/{pubkey}": {
    readonly params: { readonly pubkey: string }
    readonly query: { readonly signature?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Add a public key to your account, or to any user with the scope user:write. */
  readonly "POST /users/{user_id}/pubkeys/{pubkey}": {
    readonly params: { readonly user_id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** List a user's public keys. */
  readonly "GET /users/{user_id}/pubkeys": {
    readonly params: { readonly user_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** List your linked Ethereum addresses. */
  readonly "GET /wallets": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<Wallet>
  }
  /** Link the Ethereum address that signed the challenge message. */
  readonly "POST /wallets": {
    readonly params: {}
    readonly query: {}
    readonly body: WalletSyncRequest
    readonly answer: Wallet
  }
  /** Get the message to sign for POST /wallets. */
  readonly "GET /wallets/challenge": {
    readonly params: {}
    readonly query: { readonly source: "Mint" | "Dashboard" }
    readonly body: undefined
    readonly answer: WalletChallenge
  }
  /** Create an API key. */
  readonly "POST /api_keys": {
    readonly params: {}
    readonly query: { readonly user_id?: string }
    readonly body: CreateApiKeyBody
    readonly answer: DisplayApiKey
  }
  /** List API keys without the secrets. */
  readonly "GET /api_keys": {
    readonly params: {}
    readonly query: { readonly user_id?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplayApiKey>
  }
  /** Delete an API key. It stops working immediately. */
  readonly "DELETE /api_keys/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayApiKey
  }
  /** List your interests in emoji ids. */
  readonly "GET /user_interests": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at" | "emoji_id" }
    readonly body: undefined
    readonly answer: ListOfUserInterest
  }
  /** Register an interest in an emoji id. */
  readonly "POST /user_interests": {
    readonly params: {}
    readonly query: {}
    readonly body: NewUserInterestParameters
    readonly answer: UserInterest
  }
  /** Get your interest in an emoji id. */
  readonly "GET /user_interests/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: UserInterest
  }
  /** Delete your interest in an emoji id. */
  readonly "DELETE /user_interests/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: UserInterest
  }
  /** Create an organization. */
  readonly "POST /organizations": {
    readonly params: {}
    readonly query: {}
    readonly body: NewOrganization
    readonly answer: Organization
  }
  /** List organizations. */
  readonly "GET /organizations": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at" | "name" }
    readonly body: undefined
    readonly answer: ListOfOrganization
  }
  /** Show an organization. */
  readonly "GET /organizations/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: Organization
  }
  /** Change an organization. */
  readonly "PATCH /organizations/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: UpdateOrganization
    readonly answer: Organization
  }
  /** Delete an organization that has no keys and no active codes. */
  readonly "DELETE /organizations/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: Organization
  }
  /** Show the branding of an organization's web pages. */
  readonly "GET /organizations/{id}/branding": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: OrganizationBranding
  }
  /** Set an organization's branding. */
  readonly "PUT /organizations/{id}/branding": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: UpdateOrganizationBranding
    readonly answer: OrganizationBranding
  }
  /** List the members of an organization. */
  readonly "GET /organizations/{id}/members": {
    readonly params: { readonly id: string }
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<OrganizationMember>
  }
  /** Add a member or change their role. */
  readonly "PUT /organizations/{id}/members/{user_id}": {
    readonly params: { readonly id: string; readonly user_id: string }
    readonly query: {}
    readonly body: SetOrganizationMember
    readonly answer: OrganizationMember
  }
  /** Remove a member from an organization. Every member can remove themselves. */
  readonly "DELETE /organizations/{id}/members/{user_id}": {
    readonly params: { readonly id: string; readonly user_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: {
      readonly removed: string
    }
  }
  /** List the public keys of an organization. */
  readonly "GET /organizations/{id}/pubkeys": {
    readonly params: { readonly id: string }
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Assign a user's public key to an organization. */
  readonly "PUT /organizations/{id}/pubkeys/{pubkey}": {
    readonly params: { readonly id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Remove a public key from an organization. */
  readonly "DELETE /organizations/{id}/pubkeys/{pubkey}": {
    readonly params: { readonly id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Show the code budget of an organization. */
  readonly "GET /organizations/{id}/code_budget": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: CodeBudget
  }
  /** Set the code budget of an organization. */
  readonly "PUT /organizations/{id}/code_budget": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: SetCodeBudget
    readonly answer: CodeBudget
  }
  /** Register an OAuth client. */
  readonly "POST /oauth_clients": {
    readonly params: {}
    readonly query: {}
    readonly body: NewOauthClient
    readonly answer: OauthClientWithSecret
  }
  /** List OAuth clients. */
  readonly "GET /oauth_clients": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<OauthClient>
  }
  /** Change an OAuth client. */
  readonly "PATCH /oauth_clients/{client_id}": {
    readonly params: { readonly client_id: string }
    readonly query: {}
    readonly body: UpdateOauthClient
    readonly answer: OauthClient
  }
  /** Delete an OAuth client and revoke its tokens. */
  readonly "DELETE /oauth_clients/{client_id}": {
    readonly params: { readonly client_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: OauthClient
  }
  /** Rotate the secret of an OAuth client. */
  readonly "POST /oauth_clients/{client_id}/secret": {
    readonly params: { readonly client_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: OauthClientWithSecret
  }
  /** Call a proxy service. */
  readonly "POST /proxy": {
    readonly params: {}
    readonly query: {}
    readonly body: ProxyCallParameters
    readonly answer: ProxyResult
  }
  /** Create a lootbox type. */
  readonly "POST /lootbox_type": {
    readonly params: {}
    readonly query: {}
    readonly body: AdminNewLootBoxType
    readonly answer: PublicLootBoxType
  }
  /** List lootbox types. */
  readonly "GET /lootbox_type": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<PublicLootBoxType>
  }
  /** Generate lootboxes of a type. */
  readonly "POST /lootbox_type/generate": {
    readonly params: {}
    readonly query: {}
    readonly body: LootBoxGenerationRequest
    readonly answer: LootBoxSet
  }
  /** Create a lootbox. With status Used it is also opened. */
  readonly "POST /lootboxes": {
    readonly params: {}
    readonly query: {}
    readonly body: AdminNewLootBoxBody
    readonly answer: PublicLootBox
  }
  /** List lootboxes. */
  readonly "GET /lootboxes": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at" | "status"; readonly owner_id?: string; readonly status?: LootBoxStatus }
    readonly body: undefined
    readonly answer: ListOfPublicLootBox
  }
  /** Show a lootbox. */
  readonly "GET /lootboxes/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PublicLootBox
  }
  /** Change a lootbox. Status Used opens it; earlier statuses are refused. */
  readonly "PATCH /lootboxes/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: AdminUpdateLootBoxBody
    readonly answer: PublicLootBox
  }
  /** Delete a lootbox without an owner. */
  readonly "DELETE /lootboxes/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PublicLootBox
  }
  /** Open your lootbox. */
  readonly "POST /lootboxes/{id}/open": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PublicLootBox
  }
  /** Get the cart. */
  readonly "GET /cart": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Add ids or lootboxes to the cart. */
  readonly "POST /cart": {
    readonly params: {}
    readonly query: {}
    readonly body: AddItemsCartRequest
    readonly answer: DisplayOrder
  }
  /** Empty the cart. */
  readonly "DELETE /cart": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Remove an item from the cart. */
  readonly "DELETE /cart/cart_items/{cart_item_id}": {
    readonly params: { readonly cart_item_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Check out the cart. */
  readonly "POST /cart/checkout": {
    readonly params: {}
    readonly query: {}
    readonly body: CheckoutCartRequest
    readonly answer: DisplayOrder
  }
  /** Check out an open order. */
  readonly "POST /cart/checkout/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: CheckoutCartRequest
    readonly answer: DisplayOrder
  }
  /** Return an order pending payment to the cart. Releases the ids and cancels the payment. */
  readonly "POST /cart/convert_to_draft": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Apply a discount code to an order pending payment. */
  readonly "POST /cart/promo_code": {
    readonly params: {}
    readonly query: {}
    readonly body: ApplyPromoCodeRequest
    readonly answer: DisplayOrder
  }
  /** List orders. */
  readonly "GET /orders": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at"; readonly status?: "Cancelled" | "Draft" | "Paid" | "PendingPayment"; readonly user_id?: string; readonly all?: boolean; readonly holds_money?: boolean; readonly order_number?: string }
    readonly body: undefined
    readonly answer: ListOfDisplayOrder
  }
  /** Get an order. */
  readonly "GET /orders/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Refund a payment. */
  readonly "POST /orders/{id}/refund": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: RefundRequest
    readonly answer: DisplayOrder
  }
  /** Book a refund that was made elsewhere. */
  readonly "POST /orders/{id}/refund_override": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: RefundOverrideRequest
    readonly answer: DisplayOrder
  }
  /** List the refunds of an order. */
  readonly "GET /orders/{id}/refunds": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplayRefund>
  }
  /** Book a payment that was received elsewhere. */
  readonly "POST /orders/{id}/payment_override": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: PaymentOverrideRequest
    readonly answer: DisplayOrder
  }
  /** Send the receipt of a paid order again. */
  readonly "POST /orders/{id}/resend_confirmation": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** List your payment methods. */
  readonly "GET /payment_methods": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<PaymentMethod>
  }
  /** Delete a payment method here and at the provider. */
  readonly "DELETE /payment_methods/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PaymentMethod
  }
  /** Set the default payment method. */
  readonly "PUT /payment_methods/{id}/default": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PaymentMethod
  }
  /** List codes and their uses. */
  readonly "GET /codes": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "name"; readonly code_type?: "Discount" | "RandomYat"; readonly organization_id?: string }
    readonly body: undefined
    readonly answer: ListOfCodeAvailability
  }
  /** Create a discount code or a random id code. */
  readonly "POST /codes": {
    readonly params: {}
    readonly query: {}
    readonly body: NewCode
    readonly answer: CodeAvailability
  }
  /** Delete a code. */
  readonly "DELETE /codes/{code_id}": {
    readonly params: { readonly code_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: CodeAvailability
  }
  /** Redeem a random id code. */
  readonly "POST /codes/{code_id}/random_yat": {
    readonly params: { readonly code_id: string }
    readonly query: {}
    readonly body: RandomYatActivateBody
    readonly answer: DisplayOrder
  }
  /** Allow a public key to activate a code. */
  readonly "POST /codes/{code_id}/pubkeys/{pubkey}": {
    readonly params: { readonly code_id: string; readonly pubkey: string }
    readonly query: { readonly kind?: CodeKeyKind }
    readonly body: undefined
    readonly answer: string
  }
  /** Remove a public key from a code. */
  readonly "DELETE /codes/{code_id}/pubkeys/{pubkey}": {
    readonly params: { readonly code_id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Receive a webhook of sandbox. */
  readonly "POST /webhooks/sandbox": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Received
  }
  /** Receive a webhook of stripe. */
  readonly "POST /webhooks/stripe": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Received
  }
  /** Show the test payment page. */
  readonly "GET /sandbox/checkout/{session}": {
    readonly params: { readonly session: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Pay or decline a test payment. */
  readonly "POST /sandbox/checkout/{session}": {
    readonly params: { readonly session: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Start the authorization-code flow. */
  readonly "GET /authorize": {
    readonly params: {}
    readonly query: { readonly response_type: "code"; readonly client_id: string; readonly redirect_uri: string; readonly scope?: "svc"; readonly state?: string; readonly code_challenge?: string; readonly code_challenge_method?: "S256"; readonly svc?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Submit a form of the authorization-code flow. */
  readonly "POST /authorize": {
    readonly params: {}
    readonly query: { readonly response_type: "code"; readonly client_id: string; readonly redirect_uri: string; readonly scope?: "svc"; readonly state?: string; readonly code_challenge?: string; readonly code_challenge_method?: "S256"; readonly svc?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Show the page of an emailed link. */
  readonly "GET /magic_link": {
    readonly params: {}
    readonly query: { readonly refresh_token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Sign in by an emailed link. */
  readonly "POST /magic_link": {
    readonly params: {}
    readonly query: { readonly refresh_token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Show the form for a new password. */
  readonly "GET /password_reset": {
    readonly params: {}
    readonly query: { readonly token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Set a new password with an emailed link. */
  readonly "POST /password_reset": {
    readonly params: {}
    readonly query: { readonly token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Exchange a code or a refresh token for tokens. */
  readonly "POST /token": {
    readonly params: {}
    readonly query: {}
    readonly body: GrantRequest
    readonly answer: GrantResponse
  }
  /** List the applications that you gave access to. */
  readonly "GET /account/applications": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<GrantedApplication>
  }
  /** End the access of an application. */
  readonly "DELETE /account/applications/{client_id}": {
    readonly params: { readonly client_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse
  }
  /** Show partner flow 1: get an id. */
  readonly "GET /partner/{partner_path}": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Submit the form of partner flow 1. */
  readonly "POST /partner/{partner_path}": {
    readonly params: { readonly partner_path: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Redirect to partner flow 1. */
  readonly "GET /partner/{partner_path}/create": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Show partner flow 2: connect an id. */
  readonly "GET /partner/{partner_path}/link-email": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Submit the form of partner flow 2. */
  readonly "POST /partner/{partner_path}/link-email": {
    readonly params: { readonly partner_path: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Show partner flow 3: manage ids. */
  readonly "GET /partner/{partner_path}/manage": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Submit the form of partner flow 3. */
  readonly "POST /partner/{partner_path}/manage": {
    readonly params: { readonly partner_path: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
}

/** The operations that change something and ignore an Idempotency-Key: a repeated request is executed again. */
export const keylessOperations: ReadonlySet<string> = new Set([
  "POST /proxy",
  "POST /webhooks/sandbox",
  "POST /webhooks/stripe",
  "POST /sandbox/checkout/{session}",
  "POST /authorize",
  "POST /magic_link",
  "POST /password_reset",
  "POST /partner/{partner_path}",
  "POST /partner/{partner_path}/link-email",
  "POST /partner/{partner_path}/manage",
])
