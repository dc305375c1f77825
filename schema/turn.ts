import type { DisplayRecord } from "./directory/record.ts"

/** What one turn changes besides its own entity. Each list becomes part of the turn's one statement. */
export interface TurnEffects {
  readonly claims?: ReadonlyArray<Claim>
  readonly releases?: ReadonlyArray<string>
  readonly grants?: ReadonlyArray<Grant>
  readonly moves?: ReadonlyArray<Move>
  readonly ledger?: ReadonlyArray<LedgerLine>
  readonly sandbox_intents?: ReadonlyArray<SandboxIntent>
  readonly uses?: ReadonlyArray<CodeUse>
  readonly free_ids?: ReadonlyArray<FreeIds>
  readonly mail?: ReadonlyArray<Mail>
  readonly events?: ReadonlyArray<ChannelEvent>
}

export interface Claim {
  readonly canonical: string
  readonly kind: "owned" | "order" | "lootbox" | "transfer"
  readonly holder: string
  readonly owner_id?: string
  /** The holder the id is taken from, when it is not this one. */
  readonly from_holder?: string
  /** The id must be with `from_holder` now; that it is free is not enough. */
  readonly held?: true
}
/** A new registration: the id now belongs to the owner. */
export interface Grant {
  readonly canonical: string
  readonly owner_id: string
  readonly pubkey: string | null
  readonly source: string
  /** The record of its display modifiers, where it was asked for in skin tones. */
  readonly display?: DisplayRecord | undefined
}
/** A registered id changes hands. */
export interface Move {
  readonly canonical: string
  readonly owner_id: string
  readonly pubkey: string | null
  readonly clear_records: boolean
  readonly blocked_seconds: number
}
export interface LedgerLine {
  readonly account: string
  readonly cents: number
  readonly reference: string
}
/** A payment asked for at the built-in provider. */
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
  /** The hash of what was signed for this use; it works once. */
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

/** The kinds of effect a machine may name as an action; the host folds them into the turn's statement. */
export const turnEffectKinds = [
  "claims",
  "releases",
  "grants",
  "moves",
  "ledger",
  "sandbox_intents",
  "uses",
  "free_ids",
  "mail",
  "events",
] as const satisfies ReadonlyArray<keyof TurnEffects>
