import { Effect, Schema } from "effect"
import { atMostOnce } from "../../../actors/operation.ts"
import { CreateApiKeyBody, DisplayApiKey } from "../../../schema/accounts/api-key.ts"
import { bypass2fa, rolesUpTo } from "../../../schema/accounts/scope.ts"
import { NotFound, TwoFactorRequired, Unprocessable } from "../../../schema/errors.ts"
import { text, Uuid } from "../../../schema/wire-format.ts"
import { route } from "../../http/route.ts"
import { findActingUser } from "../acting-user.ts"
import { checkForUser } from "../permissions.ts"
import { ApiKeys } from "./api-key-store.ts"
import { apiKeyScopes } from "./scopes.ts"
import { checkMakesSensitive } from "./sensitive-keys.ts"

// With an API key of another user, the caller can act as that user. So this requires the scope for logging in as
// others.
const actAccess = { own: true, others: "adminUser:loginAs" } as const
const listAccess = { own: true, others: "adminUser:load" } as const
const forUser = { user_id: Schema.optionalKey(Uuid) }

const create = route({
  id: "createApiKey",
  group: "api keys",
  summary: "Create an API key",
  description:
    "Only this response contains the complete key. `scopes` limits it; a key never has more rights than its user. `sensitive: true` allows sensitive operations; without two-factor authentication it requires `current_password`. Only a sign-in session can create a key.",
  method: "post",
  path: "/api_keys",
  auth: "JWT",
  scope: "user:createApiKey",
  access: actAccess,
  // If an API key could create other keys, a person with a leaked key would still have access after it is deleted.
  sessionOnly: true,
  sensitive: true,
  limit: "write",
  query: forUser,
  body: CreateApiKeyBody,
  success: DisplayApiKey,
  errors: [NotFound, TwoFactorRequired, Unprocessable],
  handler: ({ body, principal, query }) => {
    const create = Effect.gen(function* () {
      const holder = yield* findActingUser(principal, query.user_id ?? principal.userId, actAccess.others)
      const scopes = yield* apiKeyScopes(principal, holder, body.scopes)
      const sensitive = body.sensitive === true || scopes.includes(bypass2fa)
      if (sensitive) yield* checkMakesSensitive(principal, holder.id, scopes, body.current_password)
      const expiresAt = body.expires_at ?? null
      return yield* ApiKeys.use((keys) =>
        keys.create(holder.id, {
          name: body.name.trim(),
          scopes,
          expiresAt,
          sensitive,
          // The guard of this route has checked the code.
          hasCode: principal.twoFactor,
        }),
      )
    })
    return Effect.flatMap(atMostOnce(create), (made) => ApiKeys.use((keys) => keys.created(made)))
  },
})

const list = route({
  id: "listApiKeys",
  group: "api keys",
  summary: "List API keys without the secrets",
  description:
    "`last_used_at` helps to find keys that are not needed. Another user's keys (`user_id`) require the scope adminUser:load.",
  method: "get",
  path: "/api_keys",
  auth: "JWT",
  scope: "user:createApiKey",
  access: listAccess,
  query: forUser,
  success: Schema.Array(DisplayApiKey),
  errors: [],
  handler: ({ principal, query }) =>
    Effect.gen(function* () {
      const userId = query.user_id ?? principal.userId
      yield* checkForUser(principal, userId, listAccess)
      return yield* ApiKeys.use((keys) => keys.list(userId))
    }),
})

const remove = route({
  id: "deleteApiKey",
  group: "api keys",
  summary: "Delete an API key. It stops working immediately",
  description: "It stops working immediately, also on open live sockets.",
  method: "del",
  path: "/api_keys/:id",
  auth: "JWT",
  scope: "user:createApiKey",
  access: actAccess,
  limit: "write",
  params: { id: text(200) },
  success: DisplayApiKey,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    ApiKeys.use((keys) =>
      atMostOnce(
        keys.remove(params.id, {
          userId: principal.userId,
          roles: principal.scopes.has(actAccess.others) ? rolesUpTo(principal.role) : [],
        }),
      ).pipe(Effect.flatMap(keys.removed)),
    ),
})

export const apiKeys = [create, list, remove] as const
