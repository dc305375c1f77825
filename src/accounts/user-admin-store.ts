import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import type { Written } from "../../actors/operation.ts"
import { type Role, rolesUpTo } from "../../schema/accounts/scope.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { DeletedUser } from "../../schema/accounts/user-update.ts"
import type { Key, Position } from "../../schema/cursor.ts"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import {
  Conflict,
  Forbidden,
  type InvalidRequest,
  NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import { type CountedPage, type PageRequest, pagedList } from "../../schema/paging.ts"
import { Bus } from "../cluster/bus.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { type Client, column } from "../postgres/client.ts"
import type { WriteOutcome } from "../postgres/guarded-write.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql, type Statement } from "../postgres/sql.ts"
import type { OutboxRow } from "../turns/outbox.ts"
import { CallerCache } from "./caller-cache.ts"
import { uniquenessOf } from "./registration.ts"
import { SecurityLog } from "./security-log/security-log.ts"
import { eventsOfChange, type UserFacts } from "./security-log/user-change-events.ts"
import { matchingUsers } from "./user-search-store.ts"

export const userList = pagedList("users", {
  created_at: ["time", "uuid"],
  updated_at: ["time", "uuid"],
  email: ["text?", "uuid"],
  first_name: ["text?", "uuid"],
  last_name: ["text?", "uuid"],
  role: ["text", "uuid"],
})

/** A user with the ids they own. */
export interface UserWithIds extends DisplayUser {
  readonly emoji_ids: ReadonlyArray<string>
}

/** The fields of a user to change. Omitted fields do not change. */
export interface UserChanges {
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly source?: string
  readonly free_limit?: number
  readonly role?: Role
  readonly password_hash?: string
  readonly active?: boolean
  readonly revoke_api_keys?: boolean
  readonly mail?: ReadonlyArray<OutboxRow>
}

interface OwnedId {
  readonly canonical: string
  readonly modifiers: string | null
}
interface UserRow {
  readonly view: DisplayUser
  readonly ids: ReadonlyArray<OwnedId>
}
interface Event {
  readonly channel: string
}
interface Changed {
  readonly user: DisplayUser
  readonly events: ReadonlyArray<Event>
}
type Removed =
  | { readonly held: Record<string, ReadonlyArray<string>> }
  | {
      readonly user: DisplayUser
      readonly kept: ReadonlyArray<string>
      readonly events: ReadonlyArray<Event>
    }
/** A refused change: the user's role is above the caller's, or the user is the last administrator. */
type Refusal = { readonly role: Role; readonly last_admin?: true }
type Outcome<A> = Refusal | A | null

/** The result of a change. It has an accepted outcome: a refused change fails before. */
type UserUpdated = WriteOutcome<
  { readonly outcome: Outcome<Changed>; readonly before: UserFacts | null },
  { readonly id: string; readonly changes: Partial<UserFacts> & { readonly hasNewPassword: boolean } }
>
type FactorsRemoved = WriteOutcome<{ readonly outcome: Outcome<Changed> }, { readonly id: string }>
type UserRemoved = WriteOutcome<{ readonly outcome: Outcome<Removed> }, { readonly id: string }>

const displayModifiersTag = 1
/**
 * The maximum number of ids shown for each user in a list. Some users own very many ids, which GET /emoji_id lists in
 * pages.
 */
const maxIdsInList = 200
/** The maximum number of ids shown for a single user. */
const maxIdsOfOne = 5000

const withIds = ({ ids, view }: UserRow): UserWithIds => ({
  ...view,
  emoji_ids: ids.map(({ canonical, modifiers }) => {
    const id = parseEmojiId(canonical)
    return id._tag === "EmojiId" ? displayFormat(id, modifiers ?? undefined) : canonical
  }),
})

const noUser = () => new NotFound({ error: "User not found." })
const refused = ({ last_admin, role }: Refusal) =>
  last_admin
    ? new Conflict({ error: "This user is the last administrator. Give another user the role Admin first." })
    : new Forbidden({
        error: `You cannot change a user with the role ${role}, because it is above your own role.`,
      })
const isAccepted = (q: Client) => q`effect.outcome ? 'user'`
const isEmpty = (held: Readonly<Record<string, ReadonlyArray<string>>>, name: string) =>
  (held[name]?.length ?? 0) === 0

const stillHeld = (held: Readonly<Record<string, ReadonlyArray<string>>>) => {
  const what = Object.keys(held).filter((name) => !isEmpty(held, name))
  return new Conflict({
    error: `The account cannot be deleted because it still has ${what.map((name) => name.replace("_", " ")).join(", ")}. Transfer the ids, open the lootboxes, finish or cancel orders and transfers, have unspent payments refunded, and give each organization another owner.`,
    details: { held },
  })
}

/** Administers users. When a call returns, its change has taken effect in all processes. */
export class UserAdmin extends Context.Service<
  UserAdmin,
  {
    /**
     * Lists users. `search` is the beginning of an email or an alternate_id, a user's id, or an emoji id that the
     * user owns. Fails if it matches too many users to sort them.
     */
    list(
      page: PageRequest<keyof typeof userList.sorts>,
      search?: string,
    ): Effect.Effect<CountedPage<UserWithIds>, InvalidRequest | Unavailable>
    /** The position of a user in the list that is sorted by `created_at`. */
    positionOf(id: string): Effect.Effect<Position, NotFound | Unavailable>
    get(id: string): Effect.Effect<UserWithIds, NotFound | Unavailable>
    /**
     * Fails if the user does not exist or was deleted, so that callers can distinguish a missing user from an empty
     * list.
     */
    check(id: string): Effect.Effect<void, NotFound | Unavailable>
    /**
     * Creates a user with a custodial key, whose email counts as confirmed. The caller must be sure that the address is correct. Returns
     * the id.
     */
    create(facts: {
      readonly id?: string
      readonly email: string
      readonly role: Role
      readonly passwordHash: string
    }): Effect.Effect<string, Unprocessable | Unavailable>
    findIdByEmail(email: string): Effect.Effect<string | undefined, Unavailable>
    passwordHash(id: string): Effect.Effect<string | undefined, Unavailable>
    /**
     * Changes a user. `by` is the caller's role. Fails if the user has a higher role, or if no administrator would
     * remain.
     */
    update(
      id: string,
      changes: UserChanges,
      by: Role,
    ): Effect.Effect<Written<UserUpdated>, NotFound | Forbidden | Conflict | Unprocessable | Unavailable>
    /** Publishes and records the changes, and returns the changed user. */
    updated(done: UserUpdated): Effect.Effect<DisplayUser>
    /** Removes all second factors of the user. If there were any, also ends the user's sessions. */
    removeTwoFactor(
      id: string,
      by: Role,
    ): Effect.Effect<Written<FactorsRemoved>, NotFound | Forbidden | Unavailable>
    /** Publishes and records that the second factors were removed, and returns the user. */
    twoFactorRemoved(done: FactorsRemoved): Effect.Effect<DisplayUser>
    /**
     * Deletes a user. Without `insists`, this fails while the user holds anything, for example ids or pending orders.
     * With it, the user's ids stay reserved under the anonymous account that remains.
     */
    remove(
      id: string,
      options: { readonly by: Role; readonly insists: boolean },
    ): Effect.Effect<Written<UserRemoved>, NotFound | Forbidden | Conflict | Unavailable>
    /** Deletes a user of the demo data, who may be the last administrator. */
    removeDemo(
      id: string,
      by: Role,
    ): Effect.Effect<Written<UserRemoved>, NotFound | Forbidden | Conflict | Unavailable>
    /** Publishes and records the deletion, and returns the user with the ids that stay reserved. */
    removed(done: UserRemoved): Effect.Effect<DeletedUser>
  }
>()("directory/UserAdmin") {
  static readonly layer = Layer.effect(
    UserAdmin,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const callers = yield* CallerCache
      const bus = yield* Bus
      const custodial = yield* CustodialKeys
      const securityLog = yield* SecurityLog

      const invalidating = (id: string) => callers.invalidating(id.toLowerCase())
      const publish = (events: ReadonlyArray<Event>) => {
        for (const { channel } of events) bus.publish("channel", channel)
      }
      /** Returns the write if its outcome was accepted. Otherwise fails. */
      const accepted = Effect.fnUntraced(function* <
        Row extends { readonly outcome: Outcome<Changed | Removed> },
        Keep,
      >(written: Written<WriteOutcome<Row, Keep>>) {
        const { outcome } = written.outcome.rows[0]!
        if (outcome === null) return yield* noUser()
        if ("role" in outcome) return yield* refused(outcome)
        return "held" in outcome ? yield* stillHeld(outcome.held) : written
      })
      const remove = (id: string, statement: Statement) =>
        sql.write
          .rows<UserRemoved["rows"][number], UserRemoved["keep"]>(statement, {
            keep: { id: id.toLowerCase() },
            when: isAccepted,
          })
          .pipe(invalidating(id), Effect.flatMap(accepted))
      const owned = (q: Client, limit: number) => q`
        (select coalesce(jsonb_agg(jsonb_build_object('canonical', e.canonical, 'modifiers',
                  (select r.data from record r where r.canonical = e.canonical and r.tag = ${displayModifiersTag}
                    order by r.seq desc limit 1)) order by e.token_id), '[]')
           from (select canonical, token_id from emoji_id where owner_id = u.id order by token_id limit ${limit}) e)`

      return UserAdmin.of({
        list: (page, search) => {
          const types = userList.sorts[page.sort]
          const list = (q: Client) => ({
            keys: [column(q, page.sort), q`id`],
            item: q`select v.view, ${owned(q, maxIdsInList)} as ids
                      from app_user u cross join lateral user_view(u) v where u.id = p.k1`,
          })
          const found =
            search === undefined
              ? pages.readCounted<UserRow>(page, types, ["users"], (q) => ({
                  ...list(q),
                  ranges: [q`app_user where deleted_at is null`],
                }))
              : pages.readFound<UserRow>(
                  page,
                  types,
                  "query: search: more than 10,000 users match. Enter more characters.",
                  (q) => ({
                    ...list(q),
                    matching: q`select * from app_user
                                 where deleted_at is null and id in (${matchingUsers(q, search)})`,
                  }),
                )
          return Effect.map(found, (one) => ({ ...one, rows: one.rows.map(withIds) }))
        },
        positionOf: Effect.fnUntraced(function* (id) {
          const [row] = yield* sql.rows<{ key: Key }>(
            (q) => q`select array[created_at::text, id::text] as key from app_user where id = ${id}`,
          )
          return row === undefined ? yield* noUser() : { key: row.key, isInclusive: false }
        }),
        get: Effect.fnUntraced(function* (id) {
          const [row] = yield* sql.rows<UserRow>(
            (q) => q`select display_user(u) as view, ${owned(q, maxIdsOfOne)} as ids from app_user u
                      where u.id = ${id} and u.deleted_at is null`,
          )
          return row === undefined ? yield* noUser() : withIds(row)
        }),
        check: Effect.fnUntraced(function* (id) {
          const rows = yield* sql.rows(
            (q) => q`select 1 from app_user where id = ${id} and deleted_at is null`,
          )
          if (rows.length === 0) return yield* noUser()
        }),
        create: Effect.fnUntraced(function* ({ email, id = randomUUID(), passwordHash, role }) {
          const { pubkey, sealedKey } = yield* custodial.make
          yield* sql
            .attempt(
              (q) => q`with made as (
                         insert into app_user (id, email, password_hash, role, email_verified_at)
                         values (${id}, ${email}, ${passwordHash}, ${role}, now()) returning id)
                       insert into pubkey (pubkey, user_id, sealed_key) select ${pubkey}, id, ${sealedKey} from made`,
            )
            .pipe(Effect.catchTag("SqlRefused", uniquenessOf))
          return id
        }),
        findIdByEmail: (email) =>
          sql
            .rows<{ id: string }>((q) => q`select id from app_user where email = ${email}`)
            .pipe(Effect.map((rows) => rows[0]?.id)),
        passwordHash: (id) =>
          sql
            .rows<{ password_hash: string | null }>(
              (q) => q`select password_hash from app_user where id = ${id} and deleted_at is null`,
            )
            .pipe(Effect.map((rows) => rows[0]?.password_hash ?? undefined)),
        update: Effect.fnUntraced(function* (id, changes, by) {
          const { active, email, password_hash, role } = changes
          const keep: UserUpdated["keep"] = {
            id: id.toLowerCase(),
            changes: {
              ...(active === undefined ? {} : { active }),
              ...(email === undefined ? {} : { email }),
              ...(role === undefined ? {} : { role }),
              hasNewPassword: password_hash !== undefined,
            },
          }
          return yield* sql.write
            .attempt<UserUpdated["rows"][number], UserUpdated["keep"]>(
              // The subquery sees the user as it was before the statement.
              (q) =>
                q`select update_user(${id}, ${JSON.stringify(changes)}::text::jsonb, ${rolesUpTo(by) as string[]}) as outcome,
                         (select jsonb_build_object('role', role, 'email', email, 'active', deactivated_at is null)
                            from app_user where id = ${id}) as before`,
              { keep, when: isAccepted },
            )
            .pipe(Effect.catchTag("SqlRefused", uniquenessOf), invalidating(id), Effect.flatMap(accepted))
        }),
        updated: Effect.fnUntraced(function* ({ keep: { changes, id }, rows }) {
          const { before, outcome } = rows[0]!
          const { events, user } = outcome as Changed
          publish(events)
          for (const event of eventsOfChange(id, changes, before)) yield* securityLog.record(event)
          return user
        }),
        removeTwoFactor: (id, by) =>
          sql.write
            .rows<FactorsRemoved["rows"][number], FactorsRemoved["keep"]>(
              (q) => q`select destroy_two_factor(${id}, ${rolesUpTo(by) as string[]}) as outcome`,
              { keep: { id: id.toLowerCase() }, when: isAccepted },
            )
            .pipe(invalidating(id), Effect.flatMap(accepted), Effect.catchTag("Conflict", Effect.die)),
        twoFactorRemoved: Effect.fnUntraced(function* ({ keep: { id: userId }, rows }) {
          const { events, user } = rows[0]!.outcome as Changed
          publish(events)
          yield* securityLog.record({ event: "two_factor.disabled", userId, details: { provider: "all" } })
          return user
        }),
        remove: (id, { by, insists }) =>
          remove(
            id,
            (q) => q`select delete_user(${id}, ${insists}, ${rolesUpTo(by) as string[]}) as outcome`,
          ),
        removeDemo: (id, by) =>
          remove(id, (q) => q`select delete_demo_user(${id}, ${rolesUpTo(by) as string[]}) as outcome`),
        removed: Effect.fnUntraced(function* ({ keep: { id: userId }, rows }) {
          const { events, kept, user } = rows[0]!.outcome as Extract<Removed, { readonly user: DisplayUser }>
          publish(events)
          yield* securityLog.record({ event: "account.deleted", userId })
          return { ...user, kept_emoji_ids: kept }
        }),
      })
    }),
  )
}
