import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { DisplayUser, DisplayUserExtended } from "../../schema/accounts/user.ts"
import { AdminUpdateUserParameters, DeletedUser } from "../../schema/accounts/user-update.ts"
import { Conflict, NotFound, Unprocessable } from "../../schema/errors.ts"
import { paged, pageOf, pageQuery, pageRequest } from "../../schema/paging.ts"
import { text, Uuid } from "../../schema/wire-format.ts"
import { route } from "../http/route.ts"
import { AdminUserUpdates } from "./admin-update-user.ts"
import { takeCurrentPasswordAttempt } from "./login/password-attempts.ts"
import { checkForUser } from "./permissions.ts"
import { UserAdmin } from "./user-admin-store.ts"
import { UserList, userList } from "./user-list-store.ts"

const showAccess = { own: "userEmoji:list", others: "user:show" } as const
const deleteAccess = { own: "user:deleteSelf", others: "user:delete" } as const

const list = route({
  id: "getAllUsers",
  group: "users",
  summary: "List users",
  description:
    "For administrators. `search` matches the beginning of an email or `alternate_id`, a user id, or an emoji id the user owns.",
  method: "get",
  path: "/users",
  auth: "JWT",
  scope: "user:list",
  query: { ...pageQuery(userList), search: Schema.optionalKey(text(320)) },
  success: pageOf(DisplayUserExtended, "ListOfDisplayUserExtended"),
  errors: [],
  handler: ({ query }) =>
    Effect.gen(function* () {
      const page = yield* pageRequest(userList, query)
      const found = yield* UserList.use((users) => users.list(page, query.search?.trim() || undefined))
      return paged(userList, page, found, found.rows)
    }),
})

const show = route({
  id: "showUser",
  group: "users",
  summary: "Get a user",
  description: "Your own user requires userEmoji:list, another user requires user:show.",
  method: "get",
  path: "/users/:id",
  auth: "JWT",
  access: showAccess,
  params: { id: Uuid },
  success: DisplayUserExtended,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    // The response contains the user's ids, so callers need the same scope as for listing their ids.
    checkForUser(principal, params.id, showAccess).pipe(
      Effect.andThen(UserList.use((users) => users.get(params.id))),
    ),
})

const update = route({
  id: "updateUserByAdmin",
  group: "users",
  summary: "Update a user as an administrator",
  description:
    "Changes names, email, password, role, `free_limit` or the state of the account. An administrator cannot give a role with more rights than their own, and cannot deactivate their own account.",
  method: "patch",
  path: "/users/:id",
  auth: "JWT",
  scope: "user:write",
  scopesInCases: {
    "adminUser:roleUpdate": "`role`",
    "user:activate": "`active` or `activation_source`",
  },
  sensitive: true,
  endsLogin: true,
  limit: "write",
  params: { id: Uuid },
  body: AdminUpdateUserParameters,
  success: DisplayUser,
  errors: [NotFound, Conflict, Unprocessable],
  handler: ({ body, params, principal }) =>
    Effect.gen(function* () {
      const id = params.id.toLowerCase()
      // The password check here has the same rate limit as login, so that it cannot be used to guess passwords.
      if (body.current_password != null) yield* takeCurrentPasswordAttempt(id)
      return yield* AdminUserUpdates.use((updates) => updates.update(principal, id, body))
    }).pipe(
      atMostOnce,
      Effect.flatMap((done) => UserAdmin.use((users) => users.updated(done))),
    ),
})

const remove = route({
  id: "deleteUser",
  group: "users",
  summary: "Delete a user",
  description:
    "Your own user requires user:deleteSelf and must hold nothing: no ids, money or open orders. Another user requires user:delete; their ids stay reserved. Personal data is erased.",
  method: "del",
  path: "/users/:id",
  auth: "JWT",
  access: deleteAccess,
  sensitive: true,
  endsLogin: true,
  limit: "write",
  params: { id: Uuid },
  success: DeletedUser,
  errors: [NotFound, Conflict],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      yield* checkForUser(principal, params.id, deleteAccess)
      // Users who delete their own account must not lose ids by accident.
      const insists = params.id.toLowerCase() !== principal.userId
      return yield* UserAdmin.use((users) => users.remove(params.id, { by: principal.role, insists }))
    }).pipe(
      atMostOnce,
      Effect.flatMap((done) => UserAdmin.use((users) => users.removed(done))),
    ),
})

const removeTwoFactor = route({
  id: "destroyTwoFactor",
  group: "users",
  summary: "Remove all two-factor methods of a user and end the user's sessions",
  description:
    "For administrators, when a user has lost device and backup codes. The user must sign in again and can then enable a new method.",
  method: "del",
  path: "/users/:id/2fa",
  auth: "JWT",
  scope: "adminUser:twoFactorAuthDestroy",
  sensitive: true,
  endsLogin: true,
  limit: "write",
  params: { id: Uuid },
  success: DisplayUser,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    UserAdmin.use((users) =>
      Effect.flatMap(atMostOnce(users.removeTwoFactor(params.id, principal.role)), users.twoFactorRemoved),
    ),
})

export const users = [list, show, update, remove, removeTwoFactor] as const
