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
  /** Nobody carries it: it is done once it is written. */
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
/** Who carries a letter takes it at once, or has it leased: one that has been due for so long is nobody's. */
const keepAfterSeconds = 3600
/** What they carry has run out before long. */
const fleetingKinds: ReadonlySet<string> = new Set([
  "magic_link",
  "confirm_email",
  "two_factor_sms",
  "transfer_sender_code",
])
/** A letter that could not be carried or opened so often is given up: the pauses grow to half an hour, or to three days. */
export const maxTries = (kind: string): number => (fleetingKinds.has(kind) ? 8 : 92)
/** They say nothing that their order does not. The others carry codes and links, or might one day. */
const openKinds: ReadonlySet<string> = new Set(["order_receipt", "order_expired"])
const sealedFor = (recipient: string, kind: string) => `outbox/${kind}/${recipient}`

/** Mail and SMS between the commit that causes them and the provider that carries them. Codes and links stay sealed. */
export class Outbox extends Context.Service<
  Outbox,
  {
    /** Rows for a statement that commits mail together with its cause. */
    seal(mail: ReadonlyArray<Mail>): Effect.Effect<ReadonlyArray<OutboxRow>>
    put(mail: Mail): Effect.Effect<void, Unavailable>
    /** Letters due now that are carried here, leased to this caller: a carrier that dies leaves them to the next. */
    take(limit: number): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** Begins its lease anew, for a carrier that takes its time. */
    hold(id: number): Effect.Effect<void, Unavailable>
    sent(id: number): Effect.Effect<void, Unavailable>
    /** Counts as sent what is not carried here, and by no other process either: it stays to be read. */
    readonly keepDue: Effect.Effect<void, Unavailable>
    /** Never due again; it stays unsent, for whoever looks. */
    giveUp(id: number): Effect.Effect<void, Unavailable>
    /** Newest first, sent or not. */
    list(recipient: string, limit: number): Effect.Effect<ReadonlyArray<OutboxMail>, Unavailable>
    /** How long the oldest letter has waited that is still to be sent, however often that was tried. */
    readonly lagSeconds: Effect.Effect<number, Unavailable>
  }
>()("directory/Outbox") {
  static readonly layer = Layer.effect(
    Outbox,
    Effect.gen(function* () {
      const sql = yield* Sql
      const sealer = yield* Seal

      const carried = deliveredHere(yield* AppConfig)
      const isCarried = (q: Client) =>
        q`case when recipient like '+%' and recipient not like '%@%' then ${carried.phones}::boolean else ${carried.mail}::boolean end`

      const sealOne = ({ data, kind, to }: Mail) => {
        const text = JSON.stringify(data)
        const kept = !(isPhone(to) ? carried.phones : carried.mail)
        return Effect.mapEager(
          openKinds.has(kind) ? Effect.succeed(text) : sealer.seal(Buffer.from(text), sealedFor(to, kind)),
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

      // One letter that cannot be opened must not hold up the others. Its key may be gone, or not here yet: while keys are
      // changed another process may have it.
      const openAll = (
        rows: ReadonlyArray<StoredMail>,
        otherwise: (row: StoredMail) => Effect.Effect<void, Unavailable>,
      ) =>
        Effect.forEach(rows, (row) =>
          open(row).pipe(
            Effect.catchCause((cause) =>
              Effect.andThen(
                Effect.logError("letter cannot be opened", { message: row.id, tries: row.tries }, cause),
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
                       from (select id from outbox where sent_at is null and due_at <= now() and ${isCarried(q)}
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
                        and not ${isCarried(q)}`,
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
