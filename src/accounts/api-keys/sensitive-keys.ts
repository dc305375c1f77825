import { Effect } from "effect"
import { bypass2fa, type Scope } from "../../../schema/accounts/scope.ts"
import { Forbidden, NotFound } from "../../../schema/errors.ts"
import type { Principal } from "../../http/principal.ts"
import { Accounts } from "../account-store.ts"
import { checkCurrentPassword } from "../update-own-account.ts"

/**
 * Fails unless the caller may create a key that does sensitive operations. The guard of the route has checked a recent
 * code of a caller with two-factor login. A caller without it enters the password again, if there is one: a key stays
 * valid after the session ends, so an open session alone must not be enough.
 */
export const checkMakesSensitive = Effect.fnUntraced(function* (
  caller: Principal,
  holderId: string,
  scopes: ReadonlyArray<Scope>,
  typedPassword: string | null | undefined,
) {
  if (caller.twoFactor) return
  if (scopes.includes(bypass2fa) || holderId !== caller.userId) {
    return yield* new Forbidden({
      error:
        "Only a caller with two-factor authentication can create a key with adminUser:bypass2fa, or a key for sensitive " +
        "operations of another user. Enable it first: POST /account/2fa/enable.",
    })
  }
  const account = yield* Accounts.use((accounts) => accounts.find({ id: caller.userId }))
  if (account === undefined) return yield* new NotFound({ error: "User not found." })
  if (account.password_hash !== null) yield* checkCurrentPassword(account, typedPassword)
})
