import { Context, Effect, Layer } from "effect"
import { isKeyScope, type Role, type Scope } from "../../../schema/accounts/scope.ts"
import type { Unavailable } from "../../../schema/errors.ts"
import { Bus } from "../../cluster/bus.ts"
import { InvalidatedCache } from "../../cluster/invalidated-cache.ts"
import { userTopic } from "../../cluster/topic-names.ts"
import { DatabaseClock } from "../../postgres/database-clock.ts"
import { Sql } from "../../postgres/sql.ts"
import { type Caller, CallerCache } from "../caller-cache.ts"
import { apiKeyTopic } from "./api-key-store.ts"
import { apiKeyMatches, parseApiKey } from "./secrets.ts"

interface StoredKey {
  readonly user_id: string
  readonly secret_hash: string
  readonly scopes: ReadonlyArray<Scope>
  readonly sensitive: boolean
  readonly expires_at: string | null
  /** The role that the key's user had when the key was created. If it is null, `scopesFor` does not check it. */
  readonly made_as: Role | null
}

export interface ApiKeyCaller {
  readonly id: string
  readonly caller: Caller
  /** The scopes stored with the key. */
  readonly scopes: ReadonlySet<Scope>
  /** Whether the key may do sensitive operations. */
  readonly sensitive: boolean
  /** The time when the key expires, in milliseconds since the Unix epoch. Infinity if the key does not expire. */
  readonly expiresAt: number
  /**
   * Returns the scopes that the key gives to a user with this role. These are the stored scopes that belong both to
   * this role and to the role that the user had when the key was created.
   */
  scopesFor(role: Role): ReadonlySet<Scope>
}

interface Entry extends ApiKeyCaller {
  /** The complete key. It is kept only in memory, and only after it was verified. */
  readonly text: string
}

const capacity = 10_000

const makeEntry = (id: string, text: string, key: StoredKey, caller: Caller): Entry => {
  const byRole = new Map<Role, ReadonlySet<Scope>>()
  return {
    id,
    text,
    caller,
    scopes: new Set(key.scopes),
    sensitive: key.sensitive,
    expiresAt: key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at),
    scopesFor: (role) => {
      const known = byRole.get(role)
      if (known !== undefined) return known
      const before = key.made_as ?? role
      const scopes = new Set(
        key.scopes.filter((scope) => isKeyScope(role, scope) && isKeyScope(before, scope)),
      )
      byRole.set(role, scopes)
      return scopes
    },
  }
}

/**
 * Finds API keys and caches them by id until the bus announces a change of the key or of its user. Changes of the user
 * matter for two reasons: they may change the user's role, and an operation that ends the user's sessions may also
 * delete the user's API keys.
 */
export class ApiKeyCallerCache extends Context.Service<
  ApiKeyCallerCache,
  {
    /** Returns the cached key. Returns undefined if the key is not cached, has expired, or may be outdated. */
    remembered(text: string): ApiKeyCaller | undefined
    find(text: string): Effect.Effect<ApiKeyCaller | undefined, Unavailable>
  }
>()("directory/ApiKeyCallerCache") {
  static readonly layer = Layer.effect(
    ApiKeyCallerCache,
    Effect.gen(function* () {
      const sql = yield* Sql
      const bus = yield* Bus
      const clock = yield* DatabaseClock
      const callers = yield* CallerCache
      const memory = new InvalidatedCache<Entry>(bus, { topics: [apiKeyTopic, userTopic], capacity })

      const remembered = (text: string) => {
        const id = parseApiKey(text)?.id
        const entry = id === undefined ? undefined : memory.recall(id)
        if (entry === undefined || entry.text !== text || entry.expiresAt <= clock.now()) return undefined
        return callers.remembered(entry.caller.id) === entry.caller ? entry : undefined
      }

      return ApiKeyCallerCache.of({
        remembered,
        find: Effect.fnUntraced(function* (text) {
          const parts = parseApiKey(text)
          if (parts === undefined) return undefined
          const remember = memory.watch()
          const [row] = yield* sql.rows<StoredKey>(
            (q) =>
              q`select user_id, secret_hash, scopes, sensitive, expires_at, made_as from api_key where id = ${parts.id}`,
          )
          if (row === undefined || !apiKeyMatches(row.secret_hash, parts.secret)) return undefined
          const caller = callers.remembered(row.user_id) ?? (yield* callers.find(row.user_id))
          if (caller === undefined) return undefined
          const entry = makeEntry(parts.id, text, row, caller)
          if (entry.expiresAt <= clock.now()) return undefined
          remember(parts.id, entry)
          return entry
        }),
      })
    }),
  )
}
