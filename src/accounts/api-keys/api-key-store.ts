import { Context, Effect, Layer } from "effect"
import type { DisplayApiKey } from "../../../schema/accounts/api-key.ts"
import type { Role, Scope } from "../../../schema/accounts/scope.ts"
import { fieldFault, NotFound, type Unavailable, Unprocessable } from "../../../schema/errors.ts"
import { Bus } from "../../cluster/bus.ts"
import { invalidating } from "../../cluster/invalidate-after-unknown-outcome.ts"
import { Sql } from "../../postgres/sql.ts"
import { SecurityLog } from "../security-log/security-log.ts"
import { makeApiKey } from "./secrets.ts"

interface ApiKeyRow {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly created_at: string
  readonly expires_at: string | null
}

const maxKeysPerUser = 50
/** The bus topic that announces changed API keys, by the id of the key. */
export const apiKeyTopic = "api_key"

const display = (row: ApiKeyRow, text = `svc_${row.id}_…`): DisplayApiKey => ({
  id: row.id,
  api_key: text,
  name: row.name,
  scopes: row.scopes,
  created_at: row.created_at,
  ...(row.expires_at === null ? {} : { expires_at: row.expires_at }),
})

/** Returns the id of an API key. A client may send the id, the complete key, or the key with a hidden secret. */
const idOf = (text: string): string => /^svc_([^_]+)_/.exec(text)?.[1] ?? text

/** Stores the API keys of users. Only a hash of the secret is stored. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    create(
      userId: string,
      facts: {
        readonly name: string
        readonly scopes: ReadonlyArray<Scope>
        readonly expiresAt: string | null
      },
    ): Effect.Effect<DisplayApiKey, NotFound | Unprocessable | Unavailable>
    list(userId: string): Effect.Effect<ReadonlyArray<DisplayApiKey>, Unavailable>
    /**
     * Deletes a key that belongs to this user, or to any user with one of these roles. When this returns, no process
     * accepts the key.
     */
    remove(
      id: string,
      of: { readonly userId: string; readonly roles: ReadonlyArray<Role> },
    ): Effect.Effect<DisplayApiKey, NotFound | Unavailable>
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

      return ApiKeys.of({
        create: Effect.fnUntraced(function* (userId, { expiresAt, name, scopes }) {
          const { hash, id, text } = yield* makeApiKey
          const [row] = yield* sql.rows<ApiKeyRow>(
            (q) => q`
              select id, user_id, name, scopes, created_at, expires_at
                from put_api_key(${id}, ${userId}, ${name}, ${hash}, ${scopes as string[]}, ${expiresAt}, ${maxKeysPerUser})`,
          )
          if (row !== undefined) return yield* Effect.as(record("api_key.created", row), display(row, text))
          const [facts] = yield* sql.rows<{ users: boolean; past: boolean }>(
            (
              q,
            ) => q`select exists (select 1 from app_user where id = ${userId} and deleted_at is null) as users,
                            coalesce(${expiresAt}::timestamptz <= now(), false) as past`,
          )
          if (!facts!.users) return yield* new NotFound({ error: "User not found." })
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
        list: (userId) =>
          sql
            .rows<ApiKeyRow>(
              (q) => q`select id, user_id, name, scopes, created_at, expires_at from api_key
                        where user_id = ${userId} order by created_at, id`,
            )
            .pipe(Effect.map((rows) => rows.map((row) => display(row)))),
        remove: Effect.fnUntraced(function* (text, { roles, userId }) {
          const id = idOf(text)
          const [row] = yield* sql
            .rows<ApiKeyRow>(
              (q) => q`delete from api_key k using app_user u
                        where k.id = ${id} and u.id = k.user_id
                          and (u.id = ${userId} or u.role = any(${roles as string[]}))
                       returning k.id, k.user_id, k.name, k.scopes, k.created_at, k.expires_at`,
            )
            .pipe(invalidating(bus.invalidate(apiKeyTopic, [id]), sql.statementTimeoutMs))
          if (row === undefined) return yield* new NotFound({ error: "API key not found." })
          yield* record("api_key.deleted", row)
          return display(row)
        }),
      })
    }),
  )
}
