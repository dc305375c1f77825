import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import type { Role } from "../../schema/accounts/scope.ts"
import { AdminUserUpdates } from "../accounts/admin-update-user.ts"
import { Features } from "../accounts/feature-store.ts"
import { UserAdmin } from "../accounts/user-admin-store.ts"
import { UserList } from "../accounts/user-list-store.ts"
import type { DemoSecretName } from "../config/published-demo-secrets.ts"
import { AppConfig } from "../config/read-config.ts"
import { DemoItems } from "./demo-item-store.ts"
import { demoSecret } from "./secrets.ts"
import type { SeedStep } from "./seed-step.ts"

interface DemoUser {
  readonly email: DemoSecretName
  readonly role: Role
  readonly firstName: string
}

export const alice: DemoUser = {
  email: "alice@example.com",
  role: "User",
  firstName: "Alice",
}
export const bob: DemoUser = {
  email: "bob@example.com",
  role: "User",
  firstName: "Bob",
}
const admin: DemoUser = {
  email: "admin@example.com",
  role: "Admin",
  firstName: "Grace",
}
const demoUsers = [admin, alice, bob]

const ensureUser = Effect.fnUntraced(function* ({ email, firstName, role }: DemoUser) {
  const users = yield* UserAdmin
  const known = yield* UserList.use((list) => list.findIdByEmail(email))
  if (known !== undefined) return known
  const { from, secret } = demoSecret(yield* AppConfig, email)
  const passwordHash = yield* AdminUserUpdates.use((updates) => updates.hashPassword(secret))
  const id = yield* DemoItems.use((items) =>
    items.note({ kind: "user", name: email, secret: { hash: passwordHash, from } }),
  )
  yield* users.create({ id, email, role, passwordHash })
  const facts = { first_name: firstName, last_name: "Demo", free_limit: 3 }
  yield* users.updated(yield* atMostOnce(users.update(id, facts, "Super")))
  return id
})

const ensureFeature = Effect.fnUntraced(function* (code: string, description: string) {
  const features = yield* Features
  const known = (yield* features.all).find((feature) => feature.code === code)
  return known ?? (yield* atMostOnce(features.create(code, description))).rows[0]!
})

const seed = Effect.gen(function* () {
  yield* Effect.forEach(demoUsers, ensureUser, { discard: true })
  const { id } = yield* ensureFeature("visualizer", "Pre-rendered pictures of an id")
  const userId = yield* ensureUser(alice)
  yield* Features.use((features) => atMostOnce(features.assign(userId, id)))
})

export const demoPeople: SeedStep<Effect.Services<typeof seed>> = {
  name: "people",
  seed,
  lines: (config) =>
    demoUsers
      // The operator sets the password of the user of ADMIN_EMAIL, so this user has no demo password to show.
      .filter(({ email }) => email !== config.adminEmail)
      .map(({ email, role }) => `${role.padEnd(8)} ${email} / ${demoSecret(config, email).secret}`),
}
