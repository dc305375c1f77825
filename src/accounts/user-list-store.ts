import { Context, Effect, Layer } from "effect"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { Key, Position } from "../../schema/cursor.ts"
import { displayFormat } from "../../schema/directory/emoji-display.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { type InvalidRequest, NotFound, type Unavailable } from "../../schema/errors.ts"
import { type CountedPage, maxCounted, type PageRequest, pagedList } from "../../schema/paging.ts"
import { isUuid } from "../../schema/wire-format.ts"
import { type Client, column } from "../postgres/client.ts"
import { makePages } from "../postgres/pages.ts"
import { Sql } from "../postgres/sql.ts"

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

interface OwnedId {
  readonly canonical: string
  readonly modifiers: string | null
}
interface UserRow {
  readonly view: DisplayUser
  readonly ids: ReadonlyArray<OwnedId>
}

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

export const noUser = () => new NotFound({ error: "User not found." })

/** A prefix with this character appended sorts after every text that begins with the prefix. */
const last = "\u{10ffff}"

/**
 * Builds the query for the ids of the users that match the search. It is a union, so that each part uses its own
 * index. Each part is limited, because a search that matches more users is refused.
 */
const matchingUsers = (q: Client, search: string) => {
  const email = search.toLowerCase()
  const emojiId = parseEmojiId(search)
  const parts = [
    q`(select id from app_user where email collate "C" between ${email} and ${email + last}
        order by email collate "C" limit ${maxCounted + 1})`,
    q`(select id from app_user where alternate_id collate "C" between ${search} and ${search + last}
        order by alternate_id collate "C" limit ${maxCounted + 1})`,
  ]
  if (isUuid(search)) parts.push(q`select ${search}::uuid`)
  if (emojiId._tag === "EmojiId")
    parts.push(q`select owner_id from emoji_id where canonical = ${emojiId.canonical}`)
  return parts.reduce((all, part) => q`${all} union all ${part}`)
}

/** Reads users for administrators and for the command line. */
export class UserList extends Context.Service<
  UserList,
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
    findIdByEmail(email: string): Effect.Effect<string | undefined, Unavailable>
    passwordHash(id: string): Effect.Effect<string | undefined, Unavailable>
  }
>()("directory/UserList") {
  static readonly layer = Layer.effect(
    UserList,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages

      const owned = (q: Client, limit: number) => q`
        (select coalesce(jsonb_agg(jsonb_build_object('canonical', e.canonical, 'modifiers',
                  (select r.data from record r where r.canonical = e.canonical and r.tag = ${displayModifiersTag}
                    order by r.seq desc limit 1)) order by e.token_id), '[]')
           from (select canonical, token_id from emoji_id where owner_id = u.id order by token_id limit ${limit}) e)`

      return UserList.of({
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
      })
    }),
  )
}
