import { Effect, Schema } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { Email } from "../../schema/accounts/email.ts"
import { roles } from "../../schema/accounts/scope.ts"
import { Conflict } from "../../schema/errors.ts"
import { pageNumber, pageRequest } from "../../schema/paging.ts"
import { AdminUserUpdates } from "../accounts/admin-update-user.ts"
import { UserAdmin, type UserChanges } from "../accounts/user-admin-store.ts"
import { UserList, userList } from "../accounts/user-list-store.ts"
import { randomCrockford } from "../crypto/crockford-base32.ts"
import {
  type Command,
  checked,
  checkedWord,
  optionOf,
  trustedUserId,
  userId,
} from "./command-line/command.ts"

/** The operator has access to the database and the keys, so commands run with the highest role. */
const by = "Super"
const pageSize = 200
const ListOptions = Schema.Struct({ page: pageNumber })

const makePassword = (given: string | undefined) => given ?? randomCrockford(20)

const updateUser = (id: string, changes: UserChanges) =>
  UserAdmin.use((users) => Effect.flatMap(atMostOnce(users.update(id, changes, by)), users.updated))

const list: Command = {
  name: "users list",
  words: [],
  options: ["page", "after"],
  summary:
    "List users, newest first, 200 per page. --after USER lists those that follow this user, at any depth of the list",
  run: (input) =>
    Effect.gen(function* () {
      const users = yield* UserList
      const { page = "0" } = yield* checked(ListOptions, { page: optionOf(input, "page") ?? "0" })
      const request = yield* pageRequest(userList, { limit: String(pageSize), page })
      const last = optionOf(input, "after")
      if (last === undefined) return yield* users.list(request)
      return yield* users.list({ ...request, page: 0, after: yield* users.positionOf(yield* userId(last)) })
    }).pipe(
      Effect.map(({ rows }) =>
        rows.map((user) => ({
          id: user.id,
          email: user.email ?? user.alternate_id ?? "",
          role: user.role,
          ids: user.emoji_ids.join(" "),
          state: user.deactivated_at === undefined ? "active" : "deactivated",
        })),
      ),
    ),
}

const show: Command = {
  name: "users show",
  words: ["user"],
  summary: "Show a user",
  run: ({ words: [user = ""] }) =>
    Effect.flatMap(userId(user), (id) => UserList.use((users) => users.get(id))),
}

const create: Command = {
  name: "users create",
  words: ["email"],
  options: ["role", "password"],
  summary: "Create a user with a confirmed email. Without --password a random password is shown once",
  run: (input) =>
    Effect.gen(function* () {
      const email = yield* checked(Email, input.words[0])
      const role = yield* checkedWord("role", roles, optionOf(input, "role") ?? "User")
      const password = makePassword(optionOf(input, "password"))
      const passwordHash = yield* AdminUserUpdates.use((updates) => updates.hashPassword(password))
      const id = yield* UserAdmin.use((users) => users.create({ email, role, passwordHash }))
      return { id, email, role, ...(optionOf(input, "password") === undefined && { password }) }
    }),
}

const setRole: Command = {
  name: "users role",
  words: ["user", "role"],
  summary: "Set the role of a user",
  run: ({ words: [user = "", role] }) =>
    Effect.gen(function* () {
      const wanted = yield* checkedWord("role", roles, role)
      const id = yield* wanted === "User" ? userId(user) : trustedUserId(user)
      return yield* updateUser(id, { role: wanted })
    }),
}

const setPassword: Command = {
  name: "users password",
  words: ["user"],
  options: ["password"],
  flags: ["revoke-api-keys"],
  summary:
    "Set a new password and end the user's sessions. Without --password a random password is shown once. --revoke-api-keys also deletes the user's API keys",
  run: (input) =>
    Effect.gen(function* () {
      const id = yield* userId(input.words[0] ?? "")
      const password = makePassword(optionOf(input, "password"))
      const revokesKeys = input.options["revoke-api-keys"] !== undefined
      const change = yield* AdminUserUpdates.use((updates) =>
        updates.passwordChange(id, password, revokesKeys),
      )
      yield* updateUser(id, change)
      return { id, ...(optionOf(input, "password") === undefined && { password }) }
    }),
}

const setActive = (name: string, active: boolean, summary: string): Command => ({
  name: `users ${name}`,
  words: ["user"],
  summary,
  run: ({ words: [user = ""] }) => Effect.flatMap(userId(user), (id) => updateUser(id, { active })),
})

/** Deletes a user. Without `insists`, a user who owns something is not deleted. */
export const removeUser = (id: string, insists: boolean) =>
  UserAdmin.use((users) => Effect.flatMap(atMostOnce(users.remove(id, { by, insists })), users.removed)).pipe(
    // The last administrator cannot be deleted even with --force, which is a conflict without details.
    Effect.mapError((failed) =>
      failed._tag === "Conflict" && failed.details !== undefined
        ? new Conflict({
            error: `${failed.error} Or delete the account with --force.`,
            details: failed.details,
          })
        : failed,
    ),
  )

const remove: Command = {
  name: "users delete",
  words: ["user"],
  flags: ["force"],
  summary: "Delete a user. --force also deletes a user who owns ids; the ids stay reserved",
  run: ({ options, words: [user = ""] }) =>
    Effect.flatMap(userId(user), (id) => removeUser(id, options["force"] !== undefined)),
}

export const userCommands: ReadonlyArray<Command> = [
  list,
  show,
  create,
  setRole,
  setPassword,
  setActive("activate", true, "Activate a deactivated user"),
  setActive("deactivate", false, "Deactivate a user and end their sessions"),
  remove,
]
