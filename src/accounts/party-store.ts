import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import type { Client } from "../postgres/client.ts"
import { Sql } from "../postgres/sql.ts"

/** The sender or receiver of a transfer, or the owner of a lootbox. */
export interface Party {
  readonly id: string
  readonly email: string | null
  readonly active: boolean
  /** The account was created for the recipient of a transfer or lootbox, and its email address is not confirmed. */
  readonly invited: boolean
  /** The account is registered, but its email address is not confirmed. */
  readonly unproven: boolean
}

/** The columns of a party, for a statement that names the table `u`. */
export const partyColumns = (q: Client) =>
  q`u.id, u.email, u.deactivated_at is null and u.deleted_at is null as active,
    u.invited_at is not null and u.email_verified_at is null as invited,
    u.invited_at is null and u.email_verified_at is null as unproven`

export class Parties extends Context.Service<
  Parties,
  {
    find(userId: string): Effect.Effect<Party | undefined, Unavailable>
    findByEmail(email: string): Effect.Effect<Party | undefined, Unavailable>
    findByPubkey(pubkey: string): Effect.Effect<Party | undefined, Unavailable>
    /**
     * Whether the user has confirmed the address that the sender of a transfer entered. An empty address means that
     * the sender entered a public key; then any confirmed address is enough.
     */
    hasConfirmed(userId: string, address: string): Effect.Effect<boolean, Unavailable>
    /** Whether the account has an email address, but has never confirmed one. */
    needsConfirmation(userId: string): Effect.Effect<boolean, Unavailable>
    /** Whether the account was deleted. */
    isGone(userId: string): Effect.Effect<boolean, Unavailable>
    /** Returns the user with this email. Creates an invited account with a custodial key if there is none. */
    invite(email: string): Effect.Effect<Party, Unavailable>
  }
>()("directory/Parties") {
  static readonly layer = Layer.effect(
    Parties,
    Effect.gen(function* () {
      const sql = yield* Sql
      const custodial = yield* CustodialKeys
      const first = (rows: ReadonlyArray<Party>) => rows[0]
      // Nearly every email belongs to an account with a key. A new key costs several milliseconds of CPU, so it is made
      // only if it is needed.
      const findWithKey = (email: string) =>
        sql
          .rows<Party>(
            (q) => q`select ${partyColumns(q)} from app_user u
                      where u.email = ${email} and exists (select 1 from pubkey k where k.user_id = u.id)`,
          )
          .pipe(Effect.map(first))

      return Parties.of({
        find: (userId) =>
          sql
            .rows<Party>((q) => q`select ${partyColumns(q)} from app_user u where u.id = ${userId}`)
            .pipe(Effect.map(first)),
        findByEmail: (email) =>
          sql
            .rows<Party>((q) => q`select ${partyColumns(q)} from app_user u where u.email = ${email}`)
            .pipe(Effect.map(first)),
        findByPubkey: (pubkey) =>
          sql
            .rows<Party>(
              (q) => q`select ${partyColumns(q)} from app_user u join pubkey k on k.user_id = u.id
                        where k.pubkey = ${pubkey}`,
            )
            .pipe(Effect.map(first)),
        hasConfirmed: (userId, address) =>
          sql
            .rows<{ confirmed: boolean }>(
              (q) =>
                q`select has_confirmed(u, ${address}) as confirmed from app_user u where u.id = ${userId}`,
            )
            .pipe(Effect.map((rows) => rows[0]?.confirmed === true)),
        needsConfirmation: (userId) =>
          sql
            .rows(
              (q) => q`select 1 from app_user where id = ${userId} and email is not null
                          and email_verified_at is null and proven_at is null`,
            )
            .pipe(Effect.map((rows) => rows.length > 0)),
        isGone: (userId) =>
          sql
            .rows((q) => q`select 1 from app_user where id = ${userId} and deleted_at is not null`)
            .pipe(Effect.map((rows) => rows.length > 0)),
        // The update changes nothing. It makes the statement return the existing row if there is one, even if another
        // request has just inserted it.
        invite: Effect.fnUntraced(function* (email) {
          const known = yield* findWithKey(email)
          if (known !== undefined) return known
          const { pubkey, sealedKey } = yield* custodial.make
          const [row] = yield* sql.rows<Party>(
            (q) => q`with u as (
                       insert into app_user (email, invited_at) values (${email}, now())
                       on conflict (email) do update set email = excluded.email returning *
                     ), made as (
                       insert into pubkey (pubkey, user_id, sealed_key)
                       select ${pubkey}, u.id, ${sealedKey} from u
                        where not exists (select 1 from pubkey k where k.user_id = u.id))
                     select ${partyColumns(q)} from u`,
          )
          return row!
        }),
      })
    }),
  )
}
