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
  readonly address?: string
  readonly memo?: string
  readonly record?: {
    readonly tag: string
    readonly hash: string
  }
  readonly rule?: ResolveRule
  readonly warnings: ReadonlyArray<ResolveWarning>
  readonly error: LookupError | null
  readonly networks?: ReadonlyArray<string>
  readonly version?: number
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
  readonly tag: string
  readonly data: string
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
  readonly insert?: ReadonlyArray<RecordInput> | null
  readonly delete?: ReadonlyArray<string> | null
  readonly bypass_single_restrictions?: boolean | null
  readonly merkle_root?: string | null
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
  readonly pubkey: string | null
  readonly version: number
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
  readonly address: string
  readonly category: string
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
  readonly tag: string
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
  readonly asset: string
  readonly network?: string | null
}

export interface ResolveResponse {
  readonly status: true
  readonly asset: string
  readonly network: string
  readonly address: string
  readonly memo?: string
  readonly record: {
    readonly tag: string
    readonly hash: string
  }
  readonly rule: ResolveRule
  readonly warnings: ReadonlyArray<ResolveWarning>
  readonly error: null
  readonly version: number
}

export type ResolveRule = "token_record" | "asset_record" | "generic_record" | "account_record"

export interface ResolveWarning {
  readonly code: ResolveWarningCode
  readonly message: string
  readonly changed_at?: string
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
  readonly event: "login.succeeded" | "login.code_required" | "login.failed" | "login.locked" | "two_factor.failed" | "two_factor.locked" | "two_factor.enabled" | "two_factor.disabled" | "password.changed" | "password.reset_requested" | "password.reset" | "email.changed" | "credentials.discarded" | "api_key.created" | "api_key.deleted" | "pubkey.added" | "wallet.added" | "role.changed" | "account.activated" | "account.deactivated" | "account.deleted" | "session.ended" | "sessions.ended" | "application.authorized" | "mint.signed" | "mint.recorded" | "mint.removed" | "transfer.forced" | "organization.role_changed" | "organization.left" | "organization.return_link_changed" | "organization.fees_changed" | "order.refunded" | "order.refund_overridden" | "order.payment_overridden" | "order.cash_booked"
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
export type ErrorCode = "body_too_large" | "conflict" | "forbidden" | "invalid_request" | "method_not_allowed" | "network_required" | "no_address" | "not_found" | "refused_by_state" | "too_many_requests" | "two_factor_required" | "unauthorized" | "unavailable" | "unknown_asset" | "unknown_network" | "unprocessable" | "unsupported_emoji" | "upgrade_required"

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
  /** Get the Prometheus metrics of all workers. In production only with METRICS_PORT, or with METRICS_TOKEN as the Bearer token. */
  readonly "GET /metrics": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Get the version of the service, its commit, and the versions of the API contract and of the database schema. */
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
  /** Get the AsyncAPI 3.0 document of the WebSocket protocol. */
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
  /** Look up the records of an emoji id, optionally filtered by tags. */
  readonly "GET /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly tags?: string }
    readonly body: undefined
    readonly answer: LookupResponse
  }
  /** Add and remove records of an emoji id. Returns the changed ids. */
  readonly "PATCH /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: EditRequest
    readonly answer: ReadonlyArray<string>
  }
  /** Remove an emoji id from the directory (admins). Returns the changed ids. */
  readonly "DELETE /emoji_id/{emoji_id}": {
    readonly params: { readonly emoji_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Look up one payment address per category: the newest default, or the newest. */
  readonly "GET /emoji_id/{emoji_id}/payment": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly tags?: string }
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
    readonly query: {}
    readonly body: undefined
    readonly answer: TickerResponse
  }
  /** Look up a list of up to 100 emoji ids. */
  readonly "POST /emoji_id/lookup": {
    readonly params: {}
    readonly query: {}
    readonly body: BatchLookupRequest
    readonly answer: BatchLookupResponse
  }
  /** Get the one address to which a wallet sends an asset on a network. */
  readonly "GET /emoji_id/{emoji_id}/resolve": {
    readonly params: { readonly emoji_id: string }
    readonly query: { readonly asset: string; readonly network?: string }
    readonly body: undefined
    readonly answer: ResolveResponse
  }
  /** Get the addresses for up to 100 pairs of an emoji id and an asset. */
  readonly "POST /emoji_id/resolve": {
    readonly params: {}
    readonly query: {}
    readonly body: BatchResolveRequest
    readonly answer: BatchResolveResponse
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
  /** Register an emoji id for a user (admins). */
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
    readonly query: { readonly limit?: number }
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
  /** Redirect to a web link of an emoji id, found by name, URL or host, or to its Redirect record. */
  readonly "GET /redirect": {
    readonly params: {}
    readonly query: { readonly emoji_id: string; readonly link?: string }
    readonly body: undefined
    readonly answer: undefined
  }
  /** Generate a signature with which an account can mint your emoji id. You get a mail about each signature. */
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
  /** Record that an emoji id was minted as a token, or that its token was destroyed (admins). A minted id can be transferred only by administrators, with `force_transfer`. */
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
  /** Transfer an id to an email address or a pubkey. Refused while the id is minted or can be minted. */
  readonly "POST /transfers": {
    readonly params: {}
    readonly query: {}
    readonly body: TransferRequest
    readonly answer: DisplayTransferRequest
  }
  /** List sent transfers; administrators can list those of other users. With `accepted_after` they are sorted by `accepted_at` unless `sort` is sent. */
  readonly "GET /transfers": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "accepted_at" | "eid"; readonly accepted_after?: string; readonly sender_id?: string; readonly all?: boolean }
    readonly body: undefined
    readonly answer: ListOfDisplayTransferRequest
  }
  /** List received transfers: those to accept, or those accepted; up to 1,000 per page. 403 until the email address is confirmed. */
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
  /** Confirm a transfer as its sender, with the mailed code. 429 after 10 wrong codes per id and 20 per user within 24 hours. */
  readonly "POST /transfers/{transfer_id}/sender_accept": {
    readonly params: { readonly transfer_id: string }
    readonly query: {}
    readonly body: AcceptTransfer
    readonly answer: DisplayTransferRequest
  }
  /** Accept a transfer as its receiver, with the mailed code. 429 after 10 wrong codes per id and 20 per user within 24 hours. */
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
  /** Log in with a password and an email or alternate_id. */
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
  /** Verify a two-factor code, to complete a login or to renew the grace period of a session. */
  readonly "POST /auth/2fa": {
    readonly params: {}
    readonly query: {}
    readonly body: Confirm2Fa
    readonly answer: TokenResponse
  }
  /** Mail a login link. The response does not reveal whether the user exists. */
  readonly "POST /auth/magic_link": {
    readonly params: {}
    readonly query: {}
    readonly body: MagicLinkLoginRequest
    readonly answer: MagicLinkLoginResponse
  }
  /** Log in with the token of a mailed link and confirm the email. An account with a password also requires the password or an access token; without either the response is 422 `required`. `discard_credentials: true` replaces both: it removes the password, sessions and keys that were set up before. */
  readonly "POST /auth/magic_link/consume": {
    readonly params: {}
    readonly query: {}
    readonly body: MagicLinkConsumeRequest
    readonly answer: TokenResponse
  }
  /** Mail a link that sets a new password. An account without a password gets a login link, an unconfirmed address a confirmation link. The response does not reveal whether the user exists. */
  readonly "POST /auth/password_reset": {
    readonly params: {}
    readonly query: {}
    readonly body: PasswordResetRequest
    readonly answer: SuccessResponse
  }
  /** Set a new password with the token of a mailed link. Ends all other sessions. Users with two-factor authentication must still enter a code. */
  readonly "POST /auth/password_reset/confirm": {
    readonly params: {}
    readonly query: {}
    readonly body: PasswordResetConfirmRequest
    readonly answer: TokenResponse
  }
  /** Log out: end all sessions and access tokens of the user. */
  readonly "POST /logout": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse
  }
  /** Register a user with an email, an email and a password, or an alternate_id and a password. */
  readonly "POST /users": {
    readonly params: {}
    readonly query: {}
    readonly body: RegisterUserParameters
    readonly answer: TokenResponse
  }
  /** List users. `search` matches the beginning of an email or alternate_id, a user id, or an emoji id the user owns. */
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
  /** Disable two-factor authentication with a backup code. No login is required. */
  readonly "POST /account/2fa/backup_disable": {
    readonly params: {}
    readonly query: {}
    readonly body: BackupDisableBody
    readonly answer: SuccessResponse
  }
  /** Send a two-factor code by SMS, to the current user or for a pending login. */
  readonly "POST /account/2fa/sms_code": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: SuccessResponse2FA
  }
  /** List the current user's login sessions with device, address and last use. `current` marks this one. */
  readonly "GET /account/sessions": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: ReadonlyArray<DisplaySession>
  }
  /** End one login session of the current user. Its tokens stop working and its live sockets are closed. */
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
  /** Get the session data of a user. `user_id` requires adminUser:load, `organization_id` requires organizationEmoji:list. */
  readonly "GET /account/load": {
    readonly params: {}
    readonly query: { readonly user_id?: string; readonly organization_id?: string }
    readonly body: undefined
    readonly answer: LoadUser
  }
  /** Get a user. Your own user requires userEmoji:list, another user requires user:show. */
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
  /** Delete a user. Your own user requires user:deleteSelf and must hold nothing. Another user requires user:delete; their ids stay reserved. */
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
  /** List the security events of your account of the last year, newest first: logins, failed logins, and changes of credentials and permissions. Requires a login session. */
  readonly "GET /account/security_log": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" }
    readonly body: undefined
    readonly answer: ListOfSecurityLogEntry
  }
  /** List the security events of a user of the last year, newest first. */
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
  /** Add a public key to your account. A key that you already have is 422 `uniqueness`. A key that another user has added needs a signature of `Emoji Id Directory: this key belongs to the user {user_id}`. */
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
  /** List a user's public keys. Other users' keys require the scope user:show. */
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
  /** Get the message to sign with personal_sign for POST /wallets. */
  readonly "GET /wallets/challenge": {
    readonly params: {}
    readonly query: { readonly source: "Mint" | "Dashboard" }
    readonly body: undefined
    readonly answer: WalletChallenge
  }
  /** Create an API key. Only this response contains the complete key. `sensitive: true` allows sensitive operations; without two-factor login it requires `current_password`. */
  readonly "POST /api_keys": {
    readonly params: {}
    readonly query: { readonly user_id?: string }
    readonly body: CreateApiKeyBody
    readonly answer: DisplayApiKey
  }
  /** List API keys without the secrets. Another user's keys (`user_id`) require the scope adminUser:load. */
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
  /** Register an interest, to be notified when an emoji id becomes available. An interest that you already have is 422 `uniqueness`. */
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
  /** Delete your interest in an emoji id. Stops its notifications. */
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
  /** List the current user's organizations. With scope organization:read: all organizations. */
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
  /** Change an organization. Another partner_path, return_link or fee requires organization:admin of the operator, and another return_link or fee a recent two-factor code. The owners get a mail about a changed return_link. */
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
  /** Set an organization's branding. Another return_link, to which users return with their refresh token, requires organization:admin of the operator and a recent two-factor code; the owners get a mail. */
  readonly "PUT /organizations/{id}/branding": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: UpdateOrganizationBranding
    readonly answer: OrganizationBranding
  }
  /** List the members of an organization and their roles, up to 1000 per page. */
  readonly "GET /organizations/{id}/members": {
    readonly params: { readonly id: string }
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<OrganizationMember>
  }
  /** Add a member or change their role. Owners must also send the confirmed email of a new member. */
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
  /** List the public keys of an organization, oldest first, up to 1000 per page. */
  readonly "GET /organizations/{id}/pubkeys": {
    readonly params: { readonly id: string }
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<string>
  }
  /** Assign a user's public key to an organization. Its power roles can then list and edit the key's ids. */
  readonly "PUT /organizations/{id}/pubkeys/{pubkey}": {
    readonly params: { readonly id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Remove a public key from an organization. The key stays with its user. */
  readonly "DELETE /organizations/{id}/pubkeys/{pubkey}": {
    readonly params: { readonly id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Show how many cents the codes of an organization may still discount. Requires organizationCode:admin in the organization. */
  readonly "GET /organizations/{id}/code_budget": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: CodeBudget
  }
  /** Set how many cents the codes of an organization may discount in total. A use that exceeds the budget answers 422 `eligibility`. */
  readonly "PUT /organizations/{id}/code_budget": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: SetCodeBudget
    readonly answer: CodeBudget
  }
  /** Register an OAuth client. The response is the only one that contains its secret. */
  readonly "POST /oauth_clients": {
    readonly params: {}
    readonly query: {}
    readonly body: NewOauthClient
    readonly answer: OauthClientWithSecret
  }
  /** List OAuth clients, up to 1000 per page. */
  readonly "GET /oauth_clients": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<OauthClient>
  }
  /** Change the name or the redirect URIs of an OAuth client. */
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
  /** Rotate the secret of an OAuth client. The old secret stops working. */
  readonly "POST /oauth_clients/{client_id}/secret": {
    readonly params: { readonly client_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: OauthClientWithSecret
  }
  /** Call a proxy service: Echo returns the data, Scraper calls SCRAPER_URL. */
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
  /** List lootbox types, up to 500 per page. */
  readonly "GET /lootbox_type": {
    readonly params: {}
    readonly query: { readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string }
    readonly body: undefined
    readonly answer: ReadonlyArray<PublicLootBoxType>
  }
  /** Generate draft lootboxes of a type, filled with free emoji ids. */
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
  /** List your lootboxes and those on sale; administrators list all. */
  readonly "GET /lootboxes": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at" | "status"; readonly owner_id?: string; readonly status?: LootBoxStatus }
    readonly body: undefined
    readonly answer: ListOfPublicLootBox
  }
  /** Show a lootbox. Its emoji ids are hidden until the owner opens it. */
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
  /** Delete a lootbox without an owner, and release its emoji ids. */
  readonly "DELETE /lootboxes/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PublicLootBox
  }
  /** Open your lootbox and receive all of its emoji ids. */
  readonly "POST /lootboxes/{id}/open": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: PublicLootBox
  }
  /** Get the cart. Unavailable items are marked; items of an expired order are included again. */
  readonly "GET /cart": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Add ids or lootboxes to the cart at current prices. */
  readonly "POST /cart": {
    readonly params: {}
    readonly query: {}
    readonly body: AddItemsCartRequest
    readonly answer: DisplayOrder
  }
  /** Empty the cart. An order pending payment is cancelled and returned instead. */
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
  /** Check out the cart. All ids are held or none, at current prices. For an order pending payment, another method replaces the payment, and the same method returns it again. 422 `eligibility`: another user has claimed an item; GET /cart marks it. 422 `method_unavailable`: the method has no payment provider. In production CardCheckout and WalletPay require Stripe, and CryptoCommerce is not available. */
  readonly "POST /cart/checkout": {
    readonly params: {}
    readonly query: {}
    readonly body: CheckoutCartRequest
    readonly answer: DisplayOrder
  }
  /** Check out an open order. Orders of other users require `adminCart:update`. Cash with the same `external_reference` is booked once; another amount with it is 409. 422 `method_unavailable`: the method has no payment provider. */
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
  /** List orders, newest first. `user_id` and `all` require `order:read`. `holds_money`: unpaid orders with money that was not refunded. `order_number`: the number on the receipt. */
  readonly "GET /orders": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "updated_at"; readonly status?: "Cancelled" | "Draft" | "Paid" | "PendingPayment"; readonly user_id?: string; readonly all?: boolean; readonly holds_money?: boolean; readonly order_number?: string }
    readonly body: undefined
    readonly answer: ListOfDisplayOrder
  }
  /** Get an order. Orders of other users require `order:read`. */
  readonly "GET /orders/{id}": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: DisplayOrder
  }
  /** Refund a payment: everything, an amount, or the price of items. The ids and unopened lootboxes of fully refunded items are released, unless `keep_ids` is true; `order_items` has `released_at` or `not_released_reason`. Send an Idempotency-Key to repeat the request safely; each request without a key is a new refund. 422 `method_unavailable`: the provider of the payment is not configured. */
  readonly "POST /orders/{id}/refund": {
    readonly params: { readonly id: string }
    readonly query: {}
    readonly body: RefundRequest
    readonly answer: DisplayOrder
  }
  /** Book a refund that was made elsewhere. The same `external_reference` is one refund of the order; another amount with it is 409. */
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
  /** Book a payment that was received elsewhere. The same `external_reference` is one payment of the order; another amount with it is 409. */
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
  /** List the caller's payment methods, 100 per page. Test cards are hidden if test payments are disabled. */
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
  /** List codes and their uses. `organization_id` lists the codes of an organization; it requires organizationCode:admin in the organization. */
  readonly "GET /codes": {
    readonly params: {}
    readonly query: { readonly dir?: "Asc" | "Desc"; readonly limit?: number; readonly page?: number; readonly after?: string; readonly before?: string; readonly sort?: "created_at" | "name"; readonly code_type?: "Discount" | "RandomYat"; readonly organization_id?: string }
    readonly body: undefined
    readonly answer: ListOfCodeAvailability
  }
  /** Create a discount code or a random id code. `organization_id` requires organizationCode:admin in the organization. Codes of an organization discount only orders of its partner pages and signed activations, within its budget. */
  readonly "POST /codes": {
    readonly params: {}
    readonly query: {}
    readonly body: NewCode
    readonly answer: CodeAvailability
  }
  /** Delete a code. Earlier uses stay valid. */
  readonly "DELETE /codes/{code_id}": {
    readonly params: { readonly code_id: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: CodeAvailability
  }
  /** Redeem a random id code. The cart holds the free id until the checkout or until it expires. */
  readonly "POST /codes/{code_id}/random_yat": {
    readonly params: { readonly code_id: string }
    readonly query: {}
    readonly body: RandomYatActivateBody
    readonly answer: DisplayOrder
  }
  /** Allow a public key to activate a code. `kind` says how the key signs: `ristretto255` (default) or `ed25519`, which is recommended because Ristretto255 signatures of existing clients can be forged. */
  readonly "POST /codes/{code_id}/pubkeys/{pubkey}": {
    readonly params: { readonly code_id: string; readonly pubkey: string }
    readonly query: { readonly kind?: CodeKeyKind }
    readonly body: undefined
    readonly answer: string
  }
  /** Remove a public key from the keys that can activate a code. */
  readonly "DELETE /codes/{code_id}/pubkeys/{pubkey}": {
    readonly params: { readonly code_id: string; readonly pubkey: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Receive a signed sandbox webhook. Repeated events are applied once. 404 if sandbox is disabled. */
  readonly "POST /webhooks/sandbox": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Received
  }
  /** Receive a signed stripe webhook. Repeated events are applied once. 404 if stripe is disabled. */
  readonly "POST /webhooks/stripe": {
    readonly params: {}
    readonly query: {}
    readonly body: undefined
    readonly answer: Received
  }
  /** Show the test payment page. 404 in production unless PAYMENTS=sandbox. */
  readonly "GET /sandbox/checkout/{session}": {
    readonly params: { readonly session: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Pay, underpay, overpay or decline a test payment (form field `action`). 404 in production unless PAYMENTS=sandbox. */
  readonly "POST /sandbox/checkout/{session}": {
    readonly params: { readonly session: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Start the authorization-code flow: login page, id selector, or redirect with a code (RFC 6749 section 4.1). */
  readonly "GET /authorize": {
    readonly params: {}
    readonly query: { readonly response_type: "code"; readonly client_id: string; readonly redirect_uri: string; readonly scope?: "svc"; readonly state?: string; readonly code_challenge?: string; readonly code_challenge_method?: "S256"; readonly svc?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Log in, choose an id, or cancel in the authorization-code flow (form). */
  readonly "POST /authorize": {
    readonly params: {}
    readonly query: { readonly response_type: "code"; readonly client_id: string; readonly redirect_uri: string; readonly scope?: "svc"; readonly state?: string; readonly code_challenge?: string; readonly code_challenge_method?: "S256"; readonly svc?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Show the page of an emailed link, which asks before it logs the user in. */
  readonly "GET /magic_link": {
    readonly params: {}
    readonly query: { readonly refresh_token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Log in by an emailed link (form). Action `discard` removes the credentials created before the email was confirmed. */
  readonly "POST /magic_link": {
    readonly params: {}
    readonly query: { readonly refresh_token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Show the form for a new password, or without a token the form that requests the link. */
  readonly "GET /password_reset": {
    readonly params: {}
    readonly query: { readonly token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Set a new password with an emailed link (form), or without a token email the link. */
  readonly "POST /password_reset": {
    readonly params: {}
    readonly query: { readonly token?: string; readonly client_id?: string; readonly redirect_uri?: string; readonly scope?: "svc"; readonly state?: string; readonly redirect?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Exchange an authorization code or a refresh token for tokens (RFC 6749). */
  readonly "POST /token": {
    readonly params: {}
    readonly query: {}
    readonly body: GrantRequest
    readonly answer: GrantResponse
  }
  /** Partner flow 1 (get an id): show the page. Query: refresh_token, eid, addresses, address_json. */
  readonly "GET /partner/{partner_path}": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Partner flow 1 (get an id): submit the page's form to choose an id, check out, or cancel. */
  readonly "POST /partner/{partner_path}": {
    readonly params: { readonly partner_path: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Redirect to partner flow 1 (get an id). The parameters stay. */
  readonly "GET /partner/{partner_path}/create": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Partner flow 2 (connect an id): show the page. Query: refresh_token, eid, addresses. */
  readonly "GET /partner/{partner_path}/link-email": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Partner flow 2 (connect an id): submit the page's form to log in, connect an id, or cancel. */
  readonly "POST /partner/{partner_path}/link-email": {
    readonly params: { readonly partner_path: string }
    readonly query: {}
    readonly body: undefined
    readonly answer: string
  }
  /** Partner flow 3 (manage ids): show the page. Query: refresh_token, addresses. */
  readonly "GET /partner/{partner_path}/manage": {
    readonly params: { readonly partner_path: string }
    readonly query: { readonly refresh_token?: string; readonly eid?: string; readonly addresses?: string; readonly address_json?: string; readonly partner_transaction_id?: string; readonly partner_conversion_id?: string }
    readonly body: undefined
    readonly answer: string
  }
  /** Partner flow 3 (manage ids): submit the page's form to add or remove records. */
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
