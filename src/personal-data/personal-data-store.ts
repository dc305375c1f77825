import { Effect } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import { NotFound } from "../../schema/errors.ts"
import { Sql } from "../postgres/sql.ts"

interface SealedFactor {
  readonly provider: string
  readonly sealed_phone: string | null
}
interface OwnedId {
  /** The stored data by key, each as the text of a JSON value. */
  readonly stored_data: Readonly<Record<string, string>>
}
/** What the service stores about a person, by subject. Orders are not contained. */
interface StoredPerson extends Readonly<Record<string, unknown>> {
  readonly two_factor: ReadonlyArray<SealedFactor>
  readonly emoji_ids: ReadonlyArray<OwnedId>
}

const idsPerPart = 200

export const readPerson = Effect.fnUntraced(function* (userId: string) {
  const sql = yield* Sql
  const [row] = yield* sql.rows<{ person: StoredPerson | null }>(
    (q) => q`select export_person(${userId}) as person`,
  )
  return row?.person ?? (yield* new NotFound({ error: "User not found." }))
})

export const readSealedPhones = Effect.fnUntraced(function* (userId: string) {
  const sql = yield* Sql
  const rows = yield* sql.rows<{ sealed: string }>(
    (q) =>
      q`select sealed_phone as sealed from two_factor where user_id = ${userId} and sealed_phone is not null`,
  )
  return rows.map(({ sealed }) => sealed)
})

/** Whether there is a row of this user, and whether the user was deleted. */
export const readDeletion = Effect.fnUntraced(function* (userId: string) {
  const sql = yield* Sql
  const [row] = yield* sql.rows<{ isDeleted: boolean }>(
    (q) => q`select deleted_at is not null as "isDeleted" from app_user where id = ${userId}`,
  )
  return row
})

/** Removes the personal data of a deleted user from orders and transfers, and the messages to these phones. */
export const forgetPerson = Effect.fnUntraced(function* (userId: string, phones: ReadonlyArray<string>) {
  const sql = yield* Sql
  yield* sql.rows((q) => q`select forget_person(${userId})`)
  yield* sql.rows((q) => q`delete from outbox where recipient = any(${phones})`)
})

/**
 * Deletes the records and the stored data of the ids that stay reserved for a deleted user. Returns the ids that had
 * any. Every process drops them from its caches before the commit.
 */
export const clearKeptIds = Effect.fnUntraced(function* (userId: string) {
  const sql = yield* Sql
  const publisher = yield* Publisher
  const cleared: Array<string> = []
  for (;;) {
    const part = yield* sql.rows<{ canonical: string }>(
      (q) => q`select canonical from emoji_id e
                where owner_id = ${userId} and (exists (select 1 from json_store j where j.canonical = e.canonical)
                        or exists (select 1 from record r where r.canonical = e.canonical and r.tag <> 3))
                order by token_id limit ${idsPerPart}`,
    )
    if (part.length === 0) return cleared
    const ids = part.map(({ canonical }) => canonical)
    const [row] = yield* sql
      .rows<{ outcome: { cleared: ReadonlyArray<string>; events: ReadonlyArray<ChannelPosition> } }>(
        (q) => q`select clear_kept_ids(${userId}, ${ids}) as outcome`,
      )
      .pipe(publisher.changing({ ids }))
    const { cleared: done, events } = row!.outcome
    publisher.moved(events)
    if (done.length === 0) return cleared
    cleared.push(...done)
  }
})
