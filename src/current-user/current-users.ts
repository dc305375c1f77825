import { Context, Effect, Layer } from "effect"
import type { CurrentUser } from "../../schema/accounts/current-user.ts"
import { type Role, roleScopes, type Scope } from "../../schema/accounts/scope.ts"
import type { NotFound, Unavailable } from "../../schema/errors.ts"
import { CallerCache } from "../accounts/caller-cache.ts"
import { Features } from "../accounts/feature-store.ts"
import { scopesInOrganization } from "../accounts/permissions.ts"
import { Users } from "../accounts/user-store.ts"
import type { Principal } from "../http/principal.ts"
import { TransferLists } from "../transfers/transfer-store.ts"

/** Reads a user together with the user's roles, scopes, features and pending transfers. */
export class CurrentUsers extends Context.Service<
  CurrentUsers,
  {
    /**
     * Reads the caller with the scopes of the caller's credentials. An API key may have fewer scopes than its user.
     */
    ofCaller(principal: Principal): Effect.Effect<CurrentUser, NotFound | Unavailable>
    /** Reads a user with all scopes of the user's role. */
    ofUser(userId: string): Effect.Effect<CurrentUser, NotFound | Unavailable>
  }
>()("directory/CurrentUsers") {
  static readonly layer = Layer.effect(
    CurrentUsers,
    Effect.gen(function* () {
      const transfers = yield* TransferLists
      const users = yield* Users
      const features = yield* Features
      const callers = yield* CallerCache

      const show = Effect.fnUntraced(function* (
        userId: string,
        scopes: Iterable<Scope>,
        organizations: ReadonlyMap<string, Role>,
      ) {
        const [user, owned, pending] = yield* Effect.all(
          [users.get(userId), features.ofUser(userId), transfers.pendingIdsOf(userId)],
          { concurrency: "unbounded" },
        )
        return {
          features: owned,
          global_scopes: [...scopes],
          organization_roles: Object.fromEntries(organizations),
          organization_scopes: Object.fromEntries(
            Array.from(organizations, ([id, role]) => [id, [...scopesInOrganization(role)]]),
          ),
          pending_transfers: pending,
          pubkeys: user.pubkeys,
          role: user.role,
          user,
          ...(user.partner_transaction_id === undefined
            ? {}
            : { partner_transaction_id: user.partner_transaction_id }),
        }
      })

      return CurrentUsers.of({
        ofCaller: ({ organizations, scopes, userId }) => show(userId, scopes, organizations),
        ofUser: Effect.fnUntraced(function* (userId) {
          const user = yield* users.get(userId)
          const caller = yield* callers.find(userId)
          return yield* show(user.id, roleScopes[user.role], caller?.organizations ?? new Map())
        }),
      })
    }),
  )
}
