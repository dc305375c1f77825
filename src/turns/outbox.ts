import { Context, Effect, Layer } from "effect"
import type { Unavailable } from "../../schema/errors.ts"
import type { Mail } from "../../schema/turn.ts"
import { AppConfig } from "../config/config.ts"
import { Seal } from "../crypto/envelope-encryption.ts"
import type { ExpiredNumberedRows } from "../postgres/prune.ts"
import { type Client, Sql } from "../postgres/sql.ts"
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
export interface OutboxMail extends Mail {
  readonly id: number
  readonly at: string
  readonly tries: number
}

const leaseSeconds = 60
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
 * about half an hour for 8 attempts, and about three days for 92 attempts.
 */
export const maxTries = (kind: string): number => (shortLivedKinds.has(kind) ? 8 : 92)
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
    put(mail: Mail): Effect.Effect<void, Unavailable>
    /**
     * Returns due mail that this process can deliver, and leases it: other processes cannot take it until the lease
     * expires.
     */
    take(limit: number): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** Renews the lease of a mail whose delivery takes long. */
    hold(id: number): Effect.Effect<void, Unavailable>
    sent(id: number): Effect.Effect<void, Unavailable>
    /**
     * Marks due mail that no process can deliver as sent, so that it is not retried. It can still be read in the
     * table.
     */
    readonly keepDue: Effect.Effect<void, Unavailable>
    /** Ends the attempts to deliver a mail. The mail stays in the table as unsent. */
    giveUp(id: number): Effect.Effect<void, Unavailable>
    /** Lists the mail to a recipient, newest first. */
    list(recipient: string, limit: number): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** The age in seconds of the oldest mail that is still to be sent. 0 if there is none. */
    readonly lagSeconds: Effect.Effect<number, Unavailable>
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
        put: Effect.fnUntraced(function* (mail) {
          const rows = yield* seal([mail])
          yield* sql.rows((q) => q`select put_mail(${JSON.stringify(rows)}::text::jsonb)`)
        }),
        take: Effect.fnUntraced(function* (limit) {
          const rows = yield* sql.rows<StoredMail>(
            (q) => q`update outbox o
                        set due_at = now() + make_interval(secs => ${leaseSeconds} * (o.tries + 1)), tries = o.tries + 1
                       from (select id from outbox where sent_at is null and due_at <= now() and ${isDeliverable(q)}
                              order by due_at limit ${limit} for update skip locked) d
                      where o.id = d.id returning o.id, o.recipient, o.kind, o.payload, o.at, o.tries`,
          )
          return yield* openAll(rows, (row) =>
            row.tries < maxTries(row.kind) ? Effect.void : giveUp(row.id),
          )
        }),
        hold: (id) =>
          sql
            .rows(
              (q) => q`update outbox set due_at = now() + make_interval(secs => ${leaseSeconds} * tries)
                        where id = ${id} and sent_at is null and due_at < 'infinity'`,
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
        list: Effect.fnUntraced(function* (recipient, limit) {
          const rows = yield* sql.rows<StoredMail>(
            (q) => q`select id, recipient, kind, payload, at, tries from outbox
                      where recipient = ${recipient} order by id desc limit ${limit}`,
          )
          return yield* openAll(rows, () => Effect.void)
        }),
        lagSeconds: sql
          .rows<{ lag: number }>(
            (q) => q`select coalesce(extract(epoch from now() - min(at)), 0)::float8 as lag
                       from outbox where sent_at is null and due_at < 'infinity'`,
          )
          .pipe(Effect.map((rows) => rows[0]?.lag ?? 0)),
      })
    }),
  )
}

export const expiredMail: ExpiredNumberedRows = {
  table: "outbox",
  isExpired: (q) => q`(sent_at < now() - interval '7 days' or at < now() - interval '30 days')`,
  isRecent: (q) => q`coalesce(sent_at, at) >= now() - interval '7 days'`,
}
