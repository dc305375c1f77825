import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import type { Unavailable } from "../../schema/errors.ts"
import type { Mail } from "../../schema/turn.ts"
import { AppConfig } from "../config/read-config.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import type { Client, SqlPiece } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import type { ExpiredNumberedRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"
import { deliveredHere, isPhone } from "./outbox-recipients.ts"

export interface OutboxRow {
  readonly recipient: string
  readonly kind: string
  readonly payload: string
  /** True if this process has no provider for the recipient. The message is then stored but not sent. */
  readonly kept: boolean
}
interface StoredMail extends Omit<OutboxRow, "kept"> {
  readonly id: number
  readonly at: string
  readonly tries: number
}
/** An attempt to send a mail. If another process takes the mail, `tries` changes. */
export type Attempt = Pick<StoredMail, "id" | "tries">

export interface Backlog {
  readonly waiting: number
  readonly oldestSeconds: number
}

/** How many messages a process can send now. */
export interface FreeSlots {
  readonly total: number
  /** How many of them may be codes and login links, and how many may be other mail. */
  readonly urgent: number
  readonly other: number
}
export type UnsentMail = Omit<StoredMail, "payload">
export interface OutboxMail extends Mail {
  readonly id: number
  readonly at: string
  readonly tries: number
}

/**
 * How long a process may send a message before another process takes it. While the process lives it renews the lease,
 * so the lease only has to be longer than a pause of the process or of the database.
 */
const leaseSeconds = 30
/**
 * The pause after a failed attempt is doubled each time, up to an hour. It varies by a quarter, so that messages that
 * failed together are not all sent again at the same time.
 */
const firstPauseSeconds = 10
const longestPauseSeconds = 3600
/**
 * A process that can deliver mail takes due mail within seconds. If a mail has been due for this many seconds, no
 * process can deliver it.
 */
const keepAfterSeconds = 3600
/** The kinds of mail that contain a code or a link that expires soon. */
const shortLivedKinds: ReadonlySet<string> = new Set([
  "magic_link",
  "confirm_email",
  "password_reset",
  "two_factor_sms",
  "transfer_sender_code",
])
/**
 * The number of attempts to send a mail of this kind. The pauses between attempts grow, so all attempts together take
 * about twenty minutes for 8 attempts, and about three and a half days for 92 attempts.
 */
export const maxTries = (kind: string): number => (shortLivedKinds.has(kind) ? 8 : 92)
/**
 * The kinds of mail with a code or a link that the recipient waits for. They are sent first. The indexes
 * `outbox_due_codes` and `outbox_due_others` list the same kinds.
 */
const urgentKinds = [...shortLivedKinds, "transfer_receiver_code", "transfer_invitation"]
export const isUrgent = (kind: string): boolean => urgentKinds.includes(kind)
/** The condition as text, without parameters: Postgres uses a partial index only for a condition that it can compare. */
const urgentCondition = `in (${urgentKinds.map((kind) => `'${kind}'`).join(", ")})`
/** Mail of these kinds contains only data of an order and is stored as plain text. Other mail can contain codes. */
const plainTextKinds: ReadonlySet<string> = new Set(["order_receipt", "order_expired"])
const sealedFor = (recipient: string, kind: string) => `outbox/${kind}/${recipient}`

/** Stores mail and SMS until they are delivered. Messages that can contain codes or links are encrypted. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /**
     * Converts mail to its stored form, which is encrypted for most kinds. Returns the rows that the caller's statement
     * stores together with the change that causes the mail.
     */
    seal(mail: ReadonlyArray<Mail>): Effect.Effect<ReadonlyArray<OutboxRow>>
    /** Stores the mail that completes the request. `keep` is stored with the Idempotency-Key of the request. */
    put<Keep = undefined>(
      mail: Mail,
      keep?: Keep,
    ): Effect.Effect<Written<WriteOutcome<unknown, Keep>>, Unavailable>
    /**
     * Returns due mail that this process can deliver, urgent mail first, and leases it: other processes cannot take it
     * until the lease expires. Mail with the ids `sending` is not taken: this process still sends it, although its
     * lease may have expired while the process was suspended.
     */
    take(
      free: FreeSlots,
      sending: ReadonlyArray<number>,
    ): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** Renews the lease of a mail, unless another process has taken it. */
    hold(mail: Attempt): Effect.Effect<void, Unavailable>
    sent(id: number): Effect.Effect<void, Unavailable>
    /** Ends a failed attempt. The mail is due again after a pause that grows with the number of attempts. */
    retryLater(mail: Attempt): Effect.Effect<void, Unavailable>
    /**
     * Marks due mail that no process can deliver as sent, so that it is not retried. It can still be read in the
     * table.
     */
    readonly keepDue: Effect.Effect<void, Unavailable>
    /** Ends the attempts to deliver a mail. The mail stays in the table as unsent. */
    giveUp(id: number): Effect.Effect<void, Unavailable>
    /** Lists messages whose attempts have ended without success, and messages that a restore holds. */
    unsent(limit: number): Effect.Effect<ReadonlyArray<UnsentMail>, Unavailable>
    /** Makes such a message due again. Returns whether there is one with this id. */
    retryUnsent(id: number): Effect.Effect<boolean, Unavailable>
    /** Lists the mail to a recipient, newest first. */
    list(recipient: string, limit: number): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** How many messages are still to be sent, and the age in seconds of the oldest one; 0 if there is none. */
    readonly backlog: Effect.Effect<Backlog, Unavailable>
  }
>()("directory/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* Sql
      const sealer = yield* Seal

      const delivered = deliveredHere(yield* AppConfig)
      const isDeliverable = (q: Client) =>
        q`case when recipient like '+%' and recipient not like '%@%' then ${delivered.phones}::boolean else ${delivered.mail}::boolean end`

      const sealOne = ({ data, kind, to }: Mail) => {
        const text = JSON.stringify(data)
        const kept = !(isPhone(to) ? delivered.phones : delivered.mail)
        return Effect.mapEager(
          plainTextKinds.has(kind)
            ? Effect.succeed(text)
            : sealer.seal(Buffer.from(text), sealedFor(to, kind)),
          (payload): OutboxRow => ({ recipient: to, kind, payload, kept }),
        )
      }
      const seal = Effect.fnUntracedEager(function* (mail: ReadonlyArray<Mail>) {
        const rows: Array<OutboxRow> = []
        for (const one of mail) rows.push(yield* sealOne(one))
        return rows
      })

      const open = ({ at, id, kind, payload, recipient: to, tries }: StoredMail) => {
        const isOpen = payload.startsWith("{")
        return (
          isOpen ? Effect.succeed(payload) : Effect.map(sealer.open(payload, sealedFor(to, kind)), String)
        ).pipe(
          Effect.orDie,
          Effect.map((text): OutboxMail => ({ id, to, kind, data: JSON.parse(text), at, tries })),
        )
      }

      const giveUp = (id: number) =>
        sql.rows((q) => q`update outbox set due_at = 'infinity' where id = ${id}`).pipe(Effect.asVoid)

      const retryLater = ({ id, tries }: Attempt) =>
        sql
          .rows(
            (q) => q`update outbox
                        set due_at = now() + make_interval(secs =>
                              least(${firstPauseSeconds}::float8 * 2 ^ (tries - 1), ${longestPauseSeconds}) * (0.75 + random() / 2))
                      where id = ${id} and tries = ${tries} and sent_at is null and due_at < 'infinity'`,
          )
          .pipe(Effect.asVoid)

      // A mail that cannot be decrypted is skipped, so that it does not delay other mail. During a key rotation,
      // another process can have the key for it.
      const openAll = (
        rows: ReadonlyArray<StoredMail>,
        otherwise: (row: StoredMail) => Effect.Effect<void, Unavailable>,
      ) =>
        Effect.forEach(rows, (row) =>
          open(row).pipe(
            Effect.catchCause((cause) =>
              Effect.andThen(
                Effect.logError("mail cannot be decrypted", { message: row.id, tries: row.tries }, cause),
                otherwise(row),
              ),
            ),
          ),
        ).pipe(Effect.map((messages) => messages.filter((message) => message !== undefined)))

      return Outbox.of({
        seal,
        giveUp,
        put: <Keep>(mail: Mail, keep?: Keep) =>
          Effect.flatMap(seal([mail]), (rows) =>
            sql.write.rows<unknown, Keep>(
              (q) => q`select true as stored from put_mail(${JSON.stringify(rows)}::text::jsonb)`,
              keep === undefined ? {} : { keep },
            ),
          ),
        retryLater,
        take: Effect.fnUntraced(function* ({ other, total, urgent }, sending) {
          const due = (q: Client, condition: string, limit: SqlPiece) =>
            q`select id from outbox
               where sent_at is null and kind ${q.unsafe(condition)} and due_at <= now()
                 and id <> all(${sending}::bigint[]) and ${isDeliverable(q)}
               order by due_at limit ${limit} for update skip locked`
          const rows = yield* sql.rows<StoredMail>(
            (q) => q`with urgent as (${due(q, urgentCondition, q`${urgent}`)}),
                          other as (${due(
                            q,
                            `not ${urgentCondition}`,
                            q`least(${other}, ${total} - (select count(*) from urgent))`,
                          )})
                     update outbox o set due_at = now() + make_interval(secs => ${leaseSeconds}), tries = o.tries + 1
                       from (select id from urgent union all select id from other) d
                      where o.id = d.id returning o.id, o.recipient, o.kind, o.payload, o.at, o.tries`,
          )
          return yield* openAll(rows, (row) =>
            row.tries < maxTries(row.kind) ? retryLater(row) : giveUp(row.id),
          )
        }),
        hold: ({ id, tries }) =>
          sql
            .rows(
              (q) => q`update outbox set due_at = now() + make_interval(secs => ${leaseSeconds})
                        where id = ${id} and tries = ${tries} and sent_at is null and due_at < 'infinity'`,
            )
            .pipe(Effect.asVoid),
        keepDue: sql
          .rows(
            (q) => q`update outbox set sent_at = now()
                      where sent_at is null and due_at <= now() - make_interval(secs => ${keepAfterSeconds})
                        and not ${isDeliverable(q)}`,
          )
          .pipe(Effect.asVoid),
        sent: (id) =>
          sql.rows((q) => q`update outbox set sent_at = now() where id = ${id}`).pipe(Effect.asVoid),
        unsent: (limit) =>
          sql.rows<UnsentMail>(
            (q) => q`select id, recipient, kind, at, tries from outbox
                      where sent_at is null and due_at = 'infinity' order by due_at limit ${limit}`,
          ),
        retryUnsent: (id) =>
          sql
            .rows(
              (q) => q`update outbox set due_at = now(), tries = 0
                        where id = ${id} and sent_at is null and due_at = 'infinity' returning id`,
            )
            .pipe(Effect.map((rows) => rows.length > 0)),
        list: Effect.fnUntraced(function* (recipient, limit) {
          const rows = yield* sql.rows<StoredMail>(
            (q) => q`select id, recipient, kind, payload, at, tries from outbox
                      where recipient = ${recipient} order by id desc limit ${limit}`,
          )
          return yield* openAll(rows, () => Effect.void)
        }),
        backlog: sql
          .rows<Backlog>(
            (q) => q`select count(*)::int as waiting,
                            coalesce(extract(epoch from now() - min(at)), 0)::float8 as "oldestSeconds"
                       from outbox where sent_at is null and due_at < 'infinity'`,
          )
          .pipe(Effect.map((rows) => rows[0] ?? { waiting: 0, oldestSeconds: 0 })),
      })
    }),
  )
}

export const expiredMail = (sentDays: number, unsentDays: number): ExpiredNumberedRows => ({
  table: "outbox",
  addedAt: (q) => q`at`,
  isExpired: (q) => q`(sent_at < now() - make_interval(days => ${sentDays})
                       or at < now() - make_interval(days => ${unsentDays}))`,
  isRecent: (q) =>
    q`coalesce(sent_at, at) >= now() - make_interval(days => ${Math.min(sentDays, unsentDays)})`,
})
