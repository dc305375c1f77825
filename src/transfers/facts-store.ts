import { Effect } from "effect"
import { type Party, partyColumns } from "../accounts/party-store.ts"
import type { MintState } from "../minting/mint-permission-store.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"
import { type TakenAttempt, takeAttempt } from "./code-attempt-store.ts"

/** What a request for a transfer depends on. */
export interface RequestFacts extends MintState {
  readonly owner_id: string
  readonly blocked_until: string | null
  readonly is_blocked: boolean
  readonly is_moving: boolean
  readonly sender: Party | null
  /** Null if no user with a key has the email, or no user has the public key. */
  readonly recipient: (Party & { readonly sees: boolean }) | null
}

/** The recipient as the sender entered it: an email, or a normalised public key. */
export type RecipientAddress = { readonly email: string } | { readonly pubkey: string }

/** What the confirmation of a transfer depends on. */
export interface AcceptFacts extends MintState {
  readonly sender: Party | null
  readonly recipient: Party | null
  /** Whether the recipient has confirmed the address that the sender entered. */
  readonly sees: boolean
  /** The key of the recipient that owns the id after the transfer. Null if the recipient has none. */
  readonly pubkey: string | null
  /** Null if the attempt was not counted, because it must not be. */
  readonly taken: TakenAttempt | null
}

interface EnteredCode {
  readonly eid: string
  readonly senderId: string
  readonly recipientId: string
  readonly recipientEmail: string
  readonly pubkey: string | null
  /** The user who entered the code, and whether this is the recipient. */
  readonly userId: string
  readonly isRecipient: boolean
  /** The attempt to count. Undefined if the transfer does not wait for this code. */
  readonly attempt: string | undefined
}

const mintColumns = (q: Client) =>
  q`e.minted_at is not null as minted, case when e.mint_until > now() then wire_time(e.mint_until) end as until`

const partyOf = (q: Client, id: SqlPiece) =>
  q`(select to_json(p) from (select ${partyColumns(q)} from app_user u where u.id = ${id}) p)`

/**
 * Reads what the requests of transfers depend on. Each request needs one statement, because a statement costs much more
 * than the rows that it reads.
 */
export const makeTransferFacts = Effect.map(Sql, (sql) => ({
  /** Undefined if the id is not registered. */
  ofRequest: (canonical: string, recipient: RecipientAddress) =>
    sql
      .rows<RequestFacts>((q) => {
        const [address, isRecipient] =
          "email" in recipient
            ? [
                recipient.email,
                q`u.email = ${recipient.email} and exists (select 1 from pubkey k where k.user_id = u.id)`,
              ]
            : ["", q`u.id = (select k.user_id from pubkey k where k.pubkey = ${recipient.pubkey})`]
        return q`select e.owner_id, e.blocked_until, coalesce(e.blocked_until > now(), false) as is_blocked,
                        c.kind = 'transfer' as is_moving, ${mintColumns(q)},
                        ${partyOf(q, q`e.owner_id`)} as sender,
                        (select to_json(p) from (select ${partyColumns(q)}, has_confirmed(u, ${address}) as sees
                                                   from app_user u where ${isRecipient}) p) as recipient
                   from emoji_id e join claim c using (canonical) where e.canonical = ${canonical}`
      })
      .pipe(Effect.map((rows) => rows[0])),

  /**
   * Counts the attempt and reads the rest. A recipient who has not confirmed the address must not enter the code, so
   * that is no attempt.
   */
  ofEnteredCode: ({
    attempt,
    eid,
    isRecipient,
    pubkey,
    recipientEmail,
    recipientId,
    senderId,
    userId,
  }: EnteredCode) =>
    sql
      .rows<AcceptFacts>(
        (q) => q`
          with recipient as materialized (
            select coalesce((select has_confirmed(u, ${recipientEmail}) from app_user u where u.id = ${recipientId}), false) as sees)
          select r.sees, coalesce(m.minted, false) as minted, m.until,
                 case when ${attempt !== undefined} and (r.sees or not ${isRecipient})
                      then ${takeAttempt(q, attempt ?? null, userId, eid)} end as taken,
                 ${partyOf(q, q`${senderId}::uuid`)} as sender, ${partyOf(q, q`${recipientId}::uuid`)} as recipient,
                 (select k.pubkey from pubkey k where k.user_id = ${recipientId}
                   order by k.pubkey is distinct from ${pubkey}, k.created_at, k.pubkey limit 1) as pubkey
            from recipient r left join (select ${mintColumns(q)} from emoji_id e where e.canonical = ${eid}) m on true`,
      )
      .pipe(Effect.map((rows) => rows[0]!)),
}))
