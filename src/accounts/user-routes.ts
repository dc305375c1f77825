import { Effect, Schema } from "effect"
import { DisplayUser, DisplayUserExtended } from "../../schema/accounts/user.ts"
import { AdminUpdateUserParameters, DeletedUser } from "../../schema/accounts/user-update.ts"
import { Conflict, NotFound, Unprocessable } from "../../schema/errors.ts"
import { paged, pageOf, pageQuery, pageRequest } from "../../schema/paging.ts"
import { text, Uuid } from "../../schema/wire-format.ts"
import { RateLimits } from "../http/limits/rate-limits.ts"
import { route } from "../http/route.ts"
import { AdminUserUpdates } from "./admin-update-user.ts"
import { checkForUser } from "./permissions.ts"
import { UserAdmin, userSorts } from "./user-admin-store.ts"

const list = route({
  id: "getAllUsers",
  group: "users",
  summary:
    "All users, a page at a time; `search` finds those whose email or alternate_id begins so, whose id it is, or who own that emoji id",
  method: "get",
  path: "/users",
  auth: "JWT",
  scope: "user:list",
  query: { ...pageQuery, search: Schema.optionalKey(text(320)) },
  success: pageOf(DisplayUserExtended, "ListOfDisplayUserExtended"),
  errors: [],
  handler: ({ query }) =>
    Effect.gen(function* () {
      const page = pageRequest(query, userSorts)
      const { data, total } = yield* UserAdmin.use((users) =>
        users.list(page, query.search?.trim() || undefined),
      )
      return paged(data, page, total)
    }),
})

const show = route({
  id: "showUser",
  group: "users",
  summary: "One user: oneself (an API key needs userEmoji:list), or anybody with user:show",
  method: "get",
  path: "/users/:id",
  auth: "JWT",
  params: { id: Uuid },
  success: DisplayUserExtended,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    // The ids are shown too, which are a list of their own.
    checkForUser(principal, params.id, { own: "userEmoji:list", others: "user:show" }).pipe(
      Effect.andThen(UserAdmin.use((users) => users.get(params.id))),
    ),
})

const update = route({
  id: "updateUserByAdmin",
  group: "users",
  summary:
    "Change a user as an administrator; a role needs adminUser:roleUpdate, (de)activation user:activate",
  method: "patch",
  path: "/users/:id",
  auth: "JWT",
  scope: "user:write",
  sensitive: true,
  limit: "write",
  params: { id: Uuid },
  body: AdminUpdateUserParameters,
  success: DisplayUser,
  errors: [NotFound, Conflict, Unprocessable],
  handler: ({ body, params, principal }) =>
    Effect.gen(function* () {
      const id = params.id.toLowerCase()
      // A password tried here is a guess like one at the login.
      if (body.current_password != null)
        yield* RateLimits.use((limits) => limits.take("login", { account: id }))
      return yield* AdminUserUpdates.use((updates) => updates.update(principal, id, body))
    }),
})

const remove = route({
  id: "deleteUser",
  group: "users",
  summary:
    "Delete a user: oneself with user:deleteSelf once nothing is held any more, anybody with user:delete; ids still held stay reserved",
  method: "del",
  path: "/users/:id",
  auth: "JWT",
  sensitive: true,
  limit: "write",
  params: { id: Uuid },
  success: DeletedUser,
  errors: [NotFound, Conflict],
  handler: ({ params, principal }) =>
    Effect.gen(function* () {
      yield* checkForUser(principal, params.id, { own: "user:deleteSelf", others: "user:delete" })
      // Nobody gives up by accident what is their own.
      const insists = params.id.toLowerCase() !== principal.userId
      return yield* UserAdmin.use((users) => users.remove(params.id, { by: principal.role, insists }))
    }),
})

const removeTwoFactor = route({
  id: "destroyTwoFactor",
  group: "users",
  summary: "Take the second factors from a user who has lost them, and end the user's sessions",
  method: "del",
  path: "/users/:id/2fa",
  auth: "JWT",
  scope: "adminUser:twoFactorAuthDestroy",
  sensitive: true,
  limit: "write",
  params: { id: Uuid },
  success: DisplayUser,
  errors: [NotFound],
  handler: ({ params, principal }) =>
    UserAdmin.use((users) => users.removeTwoFactor(params.id, principal.role)),
})

export const users = [list, show, update, remove, removeTwoFactor] as const
