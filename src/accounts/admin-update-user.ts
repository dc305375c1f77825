import { Context, Effect, Layer } from "effect"
import type { AdminUpdateUserParameters } from "../../schema/accounts/user-update.ts"
import {
  Forbidden,
  fieldFault,
  type NotFound,
  type Unavailable,
  type Unprocessable,
} from "../../schema/errors.ts"
import type { Principal } from "../http/principal.ts"
import { Outbox } from "../turns/outbox.ts"
import { ApiKeys } from "./api-keys/api-key-store.ts"
import { checkRevokesKeys, passwordNotice } from "./api-keys/password-notice.ts"
import { queueFull } from "./login/login.ts"
import { Passwords } from "./passwords.ts"
import { checkGrants, checkScope } from "./permissions.ts"
import { invalidField, unacceptable } from "./registration.ts"
import { UserAdmin, type UserChanges } from "./user-admin-store.ts"
import { UserList } from "./user-list-store.ts"

/** Updates users on behalf of an administrator, after checking what this administrator may change. */
export class AdminUserUpdates extends Context.Service<
  AdminUserUpdates,
  {
    update(
      principal: Principal,
      userId: string,
      requested: AdminUpdateUserParameters,
    ): ReturnType<UserAdmin["Service"]["update"]>
    hashPassword(password: string): Effect.Effect<string, Unprocessable | Unavailable>
    /**
     * Returns the changes that set a new password, with the mail that tells the user about it. `revokesKeys` also
     * deletes the user's API keys.
     */
    passwordChange(
      userId: string,
      password: string,
      revokesKeys: boolean,
    ): Effect.Effect<
      Pick<UserChanges, "password_hash" | "revoke_api_keys" | "mail">,
      NotFound | Unprocessable | Unavailable
    >
  }
>()("directory/AdminUserUpdates") {
  static readonly layer = Layer.effect(
    AdminUserUpdates,
    Effect.gen(function* () {
      const users = yield* UserAdmin
      const list = yield* UserList
      const passwords = yield* Passwords
      const outbox = yield* Outbox
      const keys = yield* ApiKeys

      const hashPassword = (password: string) =>
        passwords.hash(password).pipe(
          Effect.catchTags({
            PasswordQueueFull: (failure) => Effect.fail(queueFull(failure)),
            PasswordUnacceptable: (failure) => Effect.fail(unacceptable(failure)),
          }),
        )

      const passwordChange = Effect.fnUntraced(function* (
        userId: string,
        password: string,
        revokesKeys: boolean,
      ) {
        const password_hash = yield* hashPassword(password)
        const { email, email_verified_at } = yield* list.get(userId)
        const address = email_verified_at === undefined ? null : (email ?? null)
        const mail = yield* Effect.provideService(passwordNotice(userId, address, revokesKeys), ApiKeys, keys)
        return { password_hash, revoke_api_keys: revokesKeys, mail: yield* outbox.seal(mail) }
      })

      const checkCurrentPassword = Effect.fnUntraced(function* (
        principal: Principal,
        userId: string,
        password: string,
      ) {
        // Without this check, an administrator could use this operation to guess the passwords of users with higher
        // roles.
        yield* checkGrants(principal, (yield* list.get(userId)).role)
        const stored = yield* list.passwordHash(userId)
        const matches = yield* passwords
          .verify(stored, password)
          .pipe(Effect.catchTag("PasswordQueueFull", (full) => Effect.fail(queueFull(full))))
        if (!matches)
          return yield* invalidField("current_password", "invalid", "The current password is wrong.")
      })

      /**
       * Called if a request to change the caller's own email or password does not contain the current password. Fails
       * if the account has a password. As in PATCH /account, a person who only has an open session must not be able to
       * take over the account.
       */
      const checkHasNoPassword = Effect.fnUntraced(function* (userId: string) {
        if ((yield* list.passwordHash(userId)) !== undefined)
          return yield* invalidField("current_password", "required", "The current password is required.")
      })

      const checkAllowed = Effect.fnUntraced(function* (
        principal: Principal,
        userId: string,
        requested: AdminUpdateUserParameters,
      ) {
        // A caller who sets the email or password of a user can then log in as that user. Such a login may have more
        // scopes than an API key or OAuth token, so only a login session may set them.
        if (principal.via !== "session" && (requested.password != null || requested.email != null)) {
          return yield* new Forbidden({
            error: "Changing the email or the password requires a sign-in session.",
          })
        }
        if (requested.role != null) {
          yield* checkScope(principal, "adminUser:roleUpdate")
          yield* checkGrants(principal, requested.role)
        }
        if (requested.active != null || requested.activation_source != null) {
          yield* checkScope(principal, "user:activate")
        }
        if (requested.active === false && requested.activation_source != null) {
          return yield* fieldFault(
            "active",
            "conflict",
            "activation_source activates the account, so it cannot be sent together with active: false.",
          )
        }
        if (requested.active === false && principal.userId === userId) {
          return yield* new Forbidden({ error: "You cannot deactivate your own account." })
        }
      })

      return AdminUserUpdates.of({
        hashPassword,
        passwordChange,
        update: Effect.fnUntraced(function* (principal, userId, requested) {
          yield* checkAllowed(principal, userId, requested)
          if (requested.current_password != null)
            yield* checkCurrentPassword(principal, userId, requested.current_password)
          else if (principal.userId === userId && (requested.password != null || requested.email != null))
            yield* checkHasNoPassword(userId)
          const revokesKeys = yield* checkRevokesKeys(requested)
          const changes: UserChanges = {
            ...(requested.email != null && { email: requested.email }),
            ...(requested.first_name != null && { first_name: requested.first_name }),
            ...(requested.last_name != null && { last_name: requested.last_name }),
            ...(requested.free_limit != null && { free_limit: requested.free_limit }),
            ...(requested.role != null && { role: requested.role }),
            ...(requested.active != null && { active: requested.active }),
            ...(requested.activation_source != null && { source: requested.activation_source, active: true }),
            ...(requested.password != null &&
              (yield* passwordChange(userId, requested.password, revokesKeys))),
          }
          return yield* users.update(userId, changes, principal.role)
        }),
      })
    }),
  )
}
