import { Context, Effect, Layer } from "effect"
import type { Written } from "../../../actors/operation.ts"
import type { DisplayApiKey } from "../../../schema/accounts/api-key.ts"
import type { Role, Scope } from "../../../schema/accounts/scope.ts"
import {
  fieldFault,
  NotFound,
  TwoFactorRequired,
  type Unavailable,
  Unprocessable,
} from "../../../schema/errors.ts"
import { Bus } from "../../cluster/bus.ts"
import type { Client } from "../../postgres/client.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { Sql } from "../../postgres/sql.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { ApiKeyUses } from "./api-key-use-store.ts"
import { makeApiKey } from "./secrets.ts"

interface ApiKeyRow {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly sensitive: boolean
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
}

export interface NewApiKey {
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: string | null
  readonly sensitive: boolean
  /** Whether the creator has entered a two-factor code for this. */
  readonly hasCode: boolean
}

/** The stored row of a new API key, and the complete key. Only its hash is stored. */
type CreatedKey = WriteOutcome<ApiKeyRow, { readonly text: string }>

const maxKeysPerUser = 50
/** The bus topic that announces changed API keys, by the id of the key. */
export const apiKeyTopic = "api_key"

const display = (row: ApiKeyRow, text = `svc_${row.id}_…`): DisplayApiKey => ({
  id: row.id,
  api_key: text,
  name: row.name,
  scopes: row.scopes,
  sensitive: row.sensitive,
  created_at: row.created_at,
  ...(row.last_used_at === null ? {} : { last_used_at: row.last_used_at }),
  ...(row.expires_at === null ? {} : { expires_at: row.expires_at }),
})

const columns = (q: Client) =>
  q`k.id, k.user_id, k.name, k.scopes, k.sensitive, k.created_at, k.last_used_at, k.expires_at`

/** Returns the id of an API key. A client may send the id, the complete key, or the key with a hidden secret. */
const idOf = (text: string): string => /^svc_([^_]+)_/.exec(text)?.[1] ?? text

/** Stores the API keys of users. Only a hash of the secret is stored. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    create(
      userId: string,
      key: NewApiKey,
    ): Effect.Effect<Written<CreatedKey>, NotFound | TwoFactorRequired | Unprocessable | Unavailable>
    /** Records the created key in the security log and returns it with its secret. */
    created(key: CreatedKey): Effect.Effect<DisplayApiKey>
    list(userId: string): Effect.Effect<ReadonlyArray<DisplayApiKey>, Unavailable>
    /**
     * Deletes a key that belongs to this user, or to any user with one of these roles. When this returns, no process
     * accepts the key.
     */
    remove(
      id: string,
      of: { readonly userId: string; readonly roles: ReadonlyArray<Role> },
    ): Effect.Effect<Written<WriteOutcome<ApiKeyRow, undefined>>, NotFound | Unavailable>
    /** Records the deleted key in the security log and returns it. */
    removed(row: WriteOutcome<ApiKeyRow, undefined>): Effect.Effect<DisplayApiKey>
  }
>()("directory/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const securityLog = yield* SecurityLog
      const record = (event: "api_key.created" | "api_key.deleted", row: ApiKeyRow) =>
        securityLog.record({ event, userId: row.user_id, details: { key_id: row.id, name: row.name } })
      const uses = yield* ApiKeyUses

      return ApiKeys.of({
        create: Effect.fnUntraced(function* (userId, { expiresAt, hasCode, name, scopes, sensitive }) {
          const { hash, id, text } = yield* makeApiKey
          const key = {
            id,
            user_id: userId,
            name,
            hash,
            scopes,
            sensitive,
            has_code: hasCode,
            expires_at: expiresAt,
            most: maxKeysPerUser,
          }
          const written = yield* sql.write.rows<ApiKeyRow, CreatedKey["keep"]>(
            (q) => q`select ${columns(q)} from add_api_key(${JSON.stringify(key)}::text::jsonb) k`,
            { keep: { text } },
          )
          if (written.outcome.rows.length > 0) return written
          const [facts] = yield* sql.rows<{ users: boolean; past: boolean; second_factor: boolean }>(
            (
              q,
            ) => q`select exists (select 1 from app_user where id = ${userId} and deleted_at is null) as users,
                            coalesce(${expiresAt}::timestamptz <= now(), false) as past,
                            exists (select 1 from two_factor where user_id = ${userId} and confirmed_at is not null) as second_factor`,
          )
          if (!facts!.users) return yield* new NotFound({ error: "User not found." })
          // The user enabled two-factor login while this request ran.
          if (sensitive && !hasCode && facts!.second_factor) return yield* new TwoFactorRequired({})
          return yield* facts!.past
            ? new Unprocessable({
                error: "expires_at must be in the future.",
                fields: { expires_at: [{ code: "past", message: "expected a time in the future" }] },
              })
            : fieldFault(
                "name",
                "too_many",
                `A user can have at most ${maxKeysPerUser} API keys. Delete one before you create another.`,
              )
        }),
        created: ({ keep: { text }, rows }) =>
          Effect.as(record("api_key.created", rows[0]!), display(rows[0]!, text)),
        list: Effect.fnUntraced(function* (userId) {
          // Without this, a key that was used within the last minute would appear as unused.
          yield* uses.flush
          const rows = yield* sql.rows<ApiKeyRow>(
            (q) => q`select ${columns(q)} from api_key k
                      where k.user_id = ${userId} order by k.created_at, k.id`,
          )
          return rows.map((row) => display(row))
        }),
        remove: Effect.fnUntraced(function* (text, { roles, userId }) {
          const id = idOf(text)
          const written = yield* sql.write
            .rows<ApiKeyRow>(
              (q) => q`delete from api_key k using app_user u
                        where k.id = ${id} and u.id = k.user_id
                          and (u.id = ${userId} or u.role = any(${roles as string[]}))
                       returning ${columns(q)}`,
            )
            .pipe(bus.invalidating({ [apiKeyTopic]: [id] }))
          return written.outcome.rows.length > 0
            ? written
            : yield* new NotFound({ error: "API key not found." })
        }),
        removed: ({ rows }) => Effect.as(record("api_key.deleted", rows[0]!), display(rows[0]!)),
      })
    }),
  )
}
