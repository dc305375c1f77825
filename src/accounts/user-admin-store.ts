import { randomUUID } from "node:crypto"
import { Context, Effect, Layer } from "effect"
import { type Role, rolesUpTo } from "../../schema/accounts/scope.ts"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { DeletedUser } from "../../schema/accounts/user-update.ts"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, NotFound, type Unavailable, type Unprocessable } from "../../schema/errors.ts"
import type { PageRequest } from "../../schema/paging.ts"
import { Bus } from "../cluster/bus.ts"
import { CustodialKeys } from "../crypto/custodial-keys.ts"
import { type Client, Sql } from "../postgres/sql.ts"
import type { OutboxRow } from "../turns/outbox.ts"
import { CallerCache } from "./caller-cache.ts"
import { uniquenessOf } from "./registration.ts"
import { SecurityLog } from "./security-log/security-log.ts"
import { eventsOfChange, type UserFacts } from "./security-log/user-change-events.ts"
import { matchingUsers } from "./user-search-store.ts"

export const userSorts = ["created_at", "updated_at", "email", "first_name", "last_name", "role"] as const
type UserSort = (typeof userSorts)[number]

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
     * user owns.
     */
    list(
      page: PageRequest & { readonly sort: UserSort },
      search?: string,
    ): Effect.Effect<{ readonly data: ReadonlyArray<UserWithIds>; readonly total: number }, Unavailable>
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
    ): Effect.Effect<DisplayUser, NotFound | Forbidden | Conflict | Unprocessable | Unavailable>
    /** Removes all second factors of the user. If there were any, also ends the user's sessions. */
    removeTwoFactor(id: string, by: Role): Effect.Effect<DisplayUser, NotFound | Forbidden | Unavailable>
    /**
     * Deletes a user. Without `insists`, this fails while the user holds anything, for example ids or pending orders.
     * With it, the user's ids stay reserved under the anonymous account that remains.
     */
    remove(
      id: string,
      options: { readonly by: Role; readonly insists: boolean },
    ): Effect.Effect<DeletedUser, NotFound | Forbidden | Conflict | Unavailable>
    /** Deletes a user of the demo data, who may be the last administrator. */
    removeDemo(
      id: string,
      by: Role,
    ): Effect.Effect<DeletedUser, NotFound | Forbidden | Conflict | Unavailable>
  }
>()("directory/UserAdmin") {
  static readonly layer = Layer.effect(
    UserAdmin,
    Effect.gen(function* () {
      const sql = yield* Sql
      const callers = yield* CallerCache
      const bus = yield* Bus
      const custodial = yield* CustodialKeys
      const securityLog = yield* SecurityLog

      const invalidating = (id: string) => callers.invalidating(id.toLowerCase())
      const publish = (events: ReadonlyArray<Event>) => {
        for (const { channel } of events) bus.publish("channel", channel)
      }
      const afterChange = Effect.fnUntraced(function* (outcome: Outcome<Changed>) {
        if (outcome === null) return yield* noUser()
        if (!("user" in outcome)) return yield* refused(outcome)
        publish(outcome.events)
        return outcome.user
      })
      const afterRemoval = Effect.fnUntraced(function* (
        id: string,
        statement: Effect.Effect<ReadonlyArray<{ readonly outcome: Outcome<Removed> }>, Unavailable>,
      ) {
        const [row] = yield* statement.pipe(invalidating(id))
        const outcome = row!.outcome
        if (outcome === null) return yield* noUser()
        if ("role" in outcome) return yield* refused(outcome)
        if ("held" in outcome) return yield* stillHeld(outcome.held)
        publish(outcome.events)
        yield* securityLog.record({ event: "account.deleted", userId: id.toLowerCase() })
        return { ...outcome.user, kept_emoji_ids: outcome.kept }
      })
      const owned = (q: Client, limit: number) => q`
        (select coalesce(jsonb_agg(jsonb_build_object('canonical', e.canonical, 'modifiers',
                  (select r.data from record r where r.canonical = e.canonical and r.tag = ${displayModifiersTag}
                    order by r.seq desc limit 1)) order by e.registered_at, e.canonical), '[]')
           from (select canonical, registered_at from emoji_id where owner_id = u.id
                  order by registered_at, canonical limit ${limit}) e)`

      return UserAdmin.of({
        list: Effect.fnUntraced(function* ({ dir, limit, page, sort }, search) {
          const wanted = (q: Client) =>
            search === undefined
              ? q`deleted_at is null`
              : q`deleted_at is null and id in (${matchingUsers(q, search)})`
          const [row] = yield* sql.rows<{ data: ReadonlyArray<UserRow>; total: number }>(
            (q) => q`
              select (select count(*) from app_user where ${wanted(q)}) as total,
                     (select coalesce(jsonb_agg(jsonb_build_object('view', display_user(u), 'ids', ${owned(q, maxIdsInList)}) order by p.n), '[]')
                        from (select id, row_number() over () as n from (
                                select id from app_user where ${wanted(q)}
                                 order by ${q(sort)} ${dir === "Asc" ? q`asc` : q`desc`} nulls last, id
                                 limit ${limit} offset ${page * limit}) x) p
                        join app_user u on u.id = p.id) as data`,
          )
          return { data: row!.data.map(withIds), total: row!.total }
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
          const [row] = yield* sql
            .attempt<{ outcome: Outcome<Changed>; before: UserFacts | null }>(
              // The subquery sees the user as it was before the statement.
              (q) =>
                q`select update_user(${id}, ${JSON.stringify(changes)}::text::jsonb, ${rolesUpTo(by) as string[]}) as outcome,
                         (select jsonb_build_object('role', role, 'email', email, 'active', deactivated_at is null)
                            from app_user where id = ${id}) as before`,
            )
            .pipe(Effect.catchTag("SqlRefused", uniquenessOf), invalidating(id))
          const user = yield* afterChange(row!.outcome)
          for (const event of eventsOfChange(id.toLowerCase(), changes, row!.before))
            yield* securityLog.record(event)
          return user
        }),
        removeTwoFactor: Effect.fnUntraced(function* (id, by) {
          const [row] = yield* sql
            .rows<{ outcome: Outcome<Changed> }>(
              (q) => q`select destroy_two_factor(${id}, ${rolesUpTo(by) as string[]}) as outcome`,
            )
            .pipe(invalidating(id))
          const user = yield* afterChange(row!.outcome).pipe(Effect.catchTag("Conflict", Effect.die))
          yield* securityLog.record({
            event: "two_factor.disabled",
            userId: id.toLowerCase(),
            details: { provider: "all" },
          })
          return user
        }),
        remove: (id, { by, insists }) =>
          afterRemoval(
            id,
            sql.rows(
              (q) => q`select delete_user(${id}, ${insists}, ${rolesUpTo(by) as string[]}) as outcome`,
            ),
          ),
        removeDemo: (id, by) =>
          afterRemoval(
            id,
            sql.rows((q) => q`select delete_demo_user(${id}, ${rolesUpTo(by) as string[]}) as outcome`),
          ),
      })
    }),
  )
}
