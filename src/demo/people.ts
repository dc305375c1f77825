import { Effect } from "effect"
import type { Role } from "../../schema/scope.ts"
import { AppConfig, type Config } from "../config.ts"
import { UserUpdates } from "../services/user-updates.ts"
import { Features } from "../store/features.ts"
import { Pubkeys } from "../store/pubkeys.ts"
import { UserAdmin } from "../store/user-admin.ts"
import type { DemoPart } from "./part.ts"

interface DemoUser {
  readonly email: string
  readonly password: string
  readonly role: Role
  readonly firstName: string
}

export const alice: DemoUser = {
  email: "alice@example.com",
  password: "alice-demo-1",
  role: "User",
  firstName: "Alice",
}
export const bob: DemoUser = {
  email: "bob@example.com",
  password: "bob-demo-1",
  role: "User",
  firstName: "Bob",
}
const admin: DemoUser = {
  email: "admin@example.com",
  password: "admin-demo-1",
  role: "Admin",
  firstName: "Grace",
}

/** A password everybody knows never guards an administrator in production. */
const usersOf = ({ production }: Config) => (production ? [alice, bob] : [admin, alice, bob])

const ensureUser = Effect.fnUntraced(function* ({ email, firstName, password, role }: DemoUser) {
  const users = yield* UserAdmin
  const known = yield* users.findIdByEmail(email)
  if (known !== undefined) return known
  const passwordHash = yield* UserUpdates.use((updates) => updates.hashPassword(password))
  const id = yield* users.create({ email, role, passwordHash })
  yield* users.update(id, { first_name: firstName, last_name: "Demo", free_limit: 3 }, "Super")
  yield* Pubkeys.use((pubkeys) => pubkeys.generate(id))
  return id
})

const ensureFeature = Effect.fnUntraced(function* (code: string, description: string) {
  const features = yield* Features
  const known = (yield* features.all).find((feature) => feature.code === code)
  return known ?? (yield* features.create(code, description))
})

const seed = Effect.gen(function* () {
  yield* Effect.forEach(usersOf(yield* AppConfig), ensureUser, { discard: true })
  const { id } = yield* ensureFeature("visualizer", "Pre-rendered pictures of an id")
  const userId = yield* ensureUser(alice)
  yield* Features.use((features) => features.assign(userId, id))
})

export const demoPeople: DemoPart<Effect.Services<typeof seed>> = {
  name: "people",
  seed,
  lines: (config) =>
    usersOf(config)
      // Whose password the operator has set.
      .filter(({ email }) => email !== config.adminEmail?.toLowerCase())
      .map(({ email, password, role }) => `${role.padEnd(8)} ${email} / ${password}`),
}
