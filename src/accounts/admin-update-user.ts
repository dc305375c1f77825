import { Context, Effect, Layer } from "effect"
import type { DisplayUser } from "../../schema/accounts/user.ts"
import type { AdminUpdateUserParameters } from "../../schema/accounts/user-update.ts"
import {
  type Conflict,
  Forbidden,
  fieldFault,
  type NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"
import { queueFull } from "./login/login.ts"
import { Passwords } from "./passwords.ts"
import { checkGrants, checkScope } from "./permissions.ts"
import { invalidField, unacceptable } from "./registration.ts"
import { UserAdmin, type UserChanges } from "./user-admin-store.ts"

/** What an administrator asks for, checked against what this administrator may do. */
export class AdminUserUpdates extends Context.Service<
  AdminUserUpdates,
  {
    update(
      principal: Principal,
      userId: string,
      asked: AdminUpdateUserParameters,
    ): Effect.Effect<DisplayUser, NotFound | Forbidden | Conflict | Unprocessable | Unavailable>
    hashPassword(password: string): Effect.Effect<string, Unprocessable | Unavailable>
  }
>()("directory/AdminUserUpdates") {
  static readonly layer = Layer.effect(
    AdminUserUpdates,
    Effect.gen(function* () {
      const users = yield* UserAdmin
      const passwords = yield* Passwords

      const hashPassword = (password: string) =>
        passwords.hash(password).pipe(
          Effect.catchTags({
            PasswordQueueFull: (failure) => Effect.fail(queueFull(failure)),
            PasswordUnacceptable: (failure) => Effect.fail(unacceptable(failure)),
          }),
        )

      const checkCurrentPassword = Effect.fnUntraced(function* (
        principal: Principal,
        userId: string,
        password: string,
      ) {
        // Otherwise the passwords of those above could be tried here, without end.
        yield* checkGrants(principal, (yield* users.get(userId)).role)
        const stored = yield* users.passwordHash(userId)
        const matches = yield* passwords
          .verify(stored, password)
          .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
        if (!matches)
          return yield* invalidField("current_password", "invalid", "The current password is wrong.")
      })

      /** As for everybody's own account: a login left open must not be enough to take it over. */
      const checkHasNoPassword = Effect.fnUntraced(function* (userId: string) {
        if ((yield* users.passwordHash(userId)) !== undefined)
          return yield* invalidField("current_password", "required", "The current password is required.")
      })

      const checkAllowed = Effect.fnUntraced(function* (
        principal: Principal,
        userId: string,
        asked: AdminUpdateUserParameters,
      ) {
        // Whoever sets what an account is opened with can log in as its user, with more than the key may do.
        if (principal.via !== "session" && (asked.password != null || asked.email != null)) {
          return yield* new Forbidden({ error: "Password and email are changed from a login session." })
        }
        if (asked.role != null) {
          yield* checkScope(principal, "adminUser:roleUpdate")
          yield* checkGrants(principal, asked.role)
        }
        if (asked.active != null || asked.activation_source != null) {
          yield* checkScope(principal, "user:activate")
        }
        if (asked.active === false && asked.activation_source != null) {
          return yield* fieldFault("active", "conflict", "An account is activated or deactivated, not both.")
        }
        if (asked.active === false && principal.userId === userId) {
          return yield* new Forbidden({ error: "Nobody deactivates the account they are using." })
        }
      })

      return AdminUserUpdates.of({
        hashPassword,
        update: Effect.fnUntraced(function* (principal, userId, asked) {
          yield* checkAllowed(principal, userId, asked)
          if (asked.current_password != null)
            yield* checkCurrentPassword(principal, userId, asked.current_password)
          else if (principal.userId === userId && (asked.password != null || asked.email != null))
            yield* checkHasNoPassword(userId)
          const changes: UserChanges = {
            ...(asked.email != null && { email: asked.email }),
            ...(asked.first_name != null && { first_name: asked.first_name }),
            ...(asked.last_name != null && { last_name: asked.last_name }),
            ...(asked.free_limit != null && { free_limit: asked.free_limit }),
            ...(asked.role != null && { role: asked.role }),
            ...(asked.active != null && { active: asked.active }),
            ...(asked.activation_source != null && { source: asked.activation_source, active: true }),
            ...(asked.password != null && { password_hash: yield* hashPassword(asked.password) }),
          }
          return yield* users.update(userId, changes, principal.role)
        }),
      })
    }),
  )
}
