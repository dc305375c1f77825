import { Effect } from "effect"
import type { ChannelPosition } from "../../actors/ports.ts"
import type { IdChangedEvent } from "../../schema/directory/history.ts"
import type { ExpiredRows } from "../postgres/prune.ts"
import { Sql } from "../postgres/sql.ts"

export interface MailedRecord {
  readonly tag: number
  readonly data: string | null
}

/** A change that a mail reports. */
export interface MailedChange extends Pick<IdChangedEvent, "at" | "kind" | "version"> {
  readonly canonical: string
  /** Whether the recipient is the new owner of the id. */
  readonly got: boolean | null
  readonly added: ReadonlyArray<MailedRecord> | null
  readonly removed: ReadonlyArray<MailedRecord> | null
}

/** The changes that the next mail to a user reports. */
export interface DueMail {
  readonly userId: string
  /** Null if the user has no confirmed address any more. */
  readonly email: string | null
  /** The last change of the mail. Null if there is none. */
  readonly lastSeq: number | null
  readonly total: number
  /** The most important changes, at most the given number of them. */
  readonly changes: ReadonlyArray<MailedChange> | null
  /** The ids with the most changes, at most the given number of them. */
  readonly ids: ReadonlyArray<{ readonly canonical: string; readonly count: number }> | null
}

/** Reads and ends the queues of notices about changed ids. */
export const makeIdNoticeStore = Effect.map(Sql, (sql) => ({
  /** Stores the live events of at most `most` notices. Returns their positions. */
  tell: (most: number) =>
    sql
      .rows<{ events: ReadonlyArray<ChannelPosition> }>((q) => q`select tell_id_changes(${most}) as events`)
      .pipe(Effect.map(([row]) => row?.events ?? [])),
  due: (most: number, lines: number) =>
    sql.rows<DueMail>(
      (q) => q`select user_id as "userId", email, last_seq as "lastSeq", total, changes, ids
                 from due_id_mail(${most}, ${lines})`,
    ),
  /** Stores the mail, unless another process has done it. A repeated call does nothing. */
  send: ({ lastSeq, userId }: DueMail, mail: unknown) =>
    sql
      .rows((q) => q`select send_id_mail(${userId}, ${lastSeq}, ${JSON.stringify(mail)}::text::jsonb)`)
      .pipe(Effect.asVoid),
}))

/** Times of mail that no longer prevent another one. There is at most one mail an hour. */
export const oldIdMailTurns: ExpiredRows = {
  table: "id_mail_turn",
  time: (q) => q`sent_at`,
  isExpired: (q) => q`due_at is null and sent_at < now() - interval '1 day'`,
}
