import type { DisplayRecord } from "./directory/records/record.ts"

/** What a turn changes in addition to its entity. One statement commits the turn and all of these lists. */
export interface TurnEffects {
  readonly claims?: ReadonlyArray<Claim>
  readonly releases?: ReadonlyArray<string>
  readonly grants?: ReadonlyArray<Grant>
  readonly moves?: ReadonlyArray<Move>
  readonly revokes?: ReadonlyArray<Revoke>
  readonly ledger?: ReadonlyArray<LedgerLine>
  readonly sandbox_intents?: ReadonlyArray<SandboxIntent>
  readonly uses?: ReadonlyArray<CodeUse>
  readonly free_ids?: ReadonlyArray<FreeIds>
  /** The attempts to enter a code whose code was right. They no longer count as wrong ones. */
  readonly right_codes?: ReadonlyArray<string>
  readonly mail?: ReadonlyArray<Mail>
  readonly events?: ReadonlyArray<ChannelEvent>
  readonly joined?: ReadonlyArray<JoinedEvent>
}

export interface Claim {
  readonly canonical: string
  readonly kind: "owned" | "order" | "lootbox" | "transfer"
  readonly holder: string
  readonly owner_id?: string
  /** The holder from which the claim takes the id. The claim also succeeds if the id is free, unless `held` is set. */
  readonly from_holder?: string
  /** If true, `from_holder` must hold the id now. The claim fails if the id is free. */
  readonly held?: true
}
/** Registers a new id for its owner. */
export interface Grant {
  readonly canonical: string
  readonly owner_id: string
  readonly pubkey: string | null
  readonly source: string
  /** The record of the display modifiers, if the id was ordered with skin tones. */
  readonly display?: DisplayRecord | undefined
}
/** Changes the owner of a registered id. */
export interface Move {
  readonly canonical: string
  readonly owner_id: string
  readonly pubkey: string | null
  readonly clear_records: boolean
  readonly blocked_seconds: number
}
/**
 * Removes an id from the directory, so that it can be bought again. The commit fails if the id is no longer owned by
 * this owner and from this source, or is minted, or has a valid mint permission, or is in transfer.
 */
export interface Revoke {
  readonly canonical: string
  readonly owner_id: string
  readonly source: string
}
export interface LedgerLine {
  readonly account: string
  readonly cents: number
  readonly reference: string
}
/** A payment intent at the built-in sandbox provider. */
export interface SandboxIntent {
  readonly id: string
  readonly session_id: string
  readonly method: string
  readonly cents: number
  readonly success_url?: string | undefined
  readonly cancel_url?: string | undefined
}
export interface CodeUse {
  readonly code_id: string
  readonly user_id: string
  readonly count: number
  /**
   * The discount in cents, which is charged to the budget of the code's organization. A return has none: it gives back
   * what was charged.
   */
  readonly cents?: number
  /** The hash of the signed activation. It is stored, so that an activation can be used only once. */
  readonly activation?: string
}
export interface FreeIds {
  readonly user_id: string
  readonly count: number
}
export interface Mail {
  readonly to: string
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
}
export interface ChannelEvent {
  readonly channel: string
  readonly type: string
  readonly data: unknown
}

/** An event for another entity. The turn that the event causes there is committed with the same statement. */
export interface JoinedEvent {
  readonly entity: "lootbox"
  readonly id: string
  readonly event: { readonly type: string } & Readonly<Record<string, unknown>>
  /** Creates the other entity from this input. Its id must be new. */
  readonly create?: unknown
  /** The claim that is reported as taken if the other entity refuses the event. */
  readonly claim: string
}

/**
 * The names of all effects. A state machine requests an effect with an action of the same name. The host of the machine
 * collects the effects and commits them with the turn.
 */
export const turnEffectKinds = [
  "claims",
  "releases",
  "grants",
  "moves",
  "revokes",
  "ledger",
  "sandbox_intents",
  "uses",
  "free_ids",
  "right_codes",
  "mail",
  "events",
  "joined",
] as const satisfies ReadonlyArray<keyof TurnEffects>
