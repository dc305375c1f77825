import { Clock, Effect } from "effect"
import { fieldFault } from "../../../schema/errors.ts"
import type { Mail } from "../../../schema/turn.ts"
import { ApiKeys } from "./api-key-store.ts"

/** Whether the change of a password also deletes the user's API keys. Fails if there is no new password. */
export const checkRevokesKeys = Effect.fnUntraced(function* (body: {
  readonly password?: string | null
  readonly revoke_api_keys?: boolean | null
}) {
  if (!body.revoke_api_keys) return false
  if (body.password) return true
  return yield* fieldFault(
    "revoke_api_keys",
    "needs_password",
    "revoke_api_keys is possible only together with a new password. Delete single keys with DELETE /api_keys/{id}.",
  )
})

/**
 * Makes the mail that tells a user about a new password. API keys keep working after a change of the password, so the
 * mail lists them. There is no mail without a confirmed address.
 */
export const passwordNotice = Effect.fnUntraced(function* (
  userId: string,
  address: string | null,
  revokesKeys: boolean,
) {
  if (address === null) return []
  const keys = yield* ApiKeys.use((keys) => keys.list(userId))
  const now = yield* Clock.currentTimeMillis
  const valid = keys.filter(({ expires_at }) => expires_at === undefined || Date.parse(expires_at) > now)
  const data = {
    change: "the password of your account was changed",
    api_keys: valid.map(({ expires_at, id, last_used_at, name, sensitive }) => ({
      name,
      id,
      sensitive,
      ...(last_used_at === undefined ? {} : { last_used_at }),
      ...(expires_at === undefined ? {} : { expires_at }),
    })),
    api_keys_deleted: revokesKeys,
  }
  return [{ to: address, kind: "security_notice", data }] satisfies ReadonlyArray<Mail>
})
