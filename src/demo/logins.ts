import { Effect } from "effect"
import { atMostOnce } from "../../actors/operation.ts"
import { AdminUserUpdates } from "../accounts/admin-update-user.ts"
import { Passwords } from "../accounts/passwords.ts"
import { UserAdmin } from "../accounts/user-admin-store.ts"
import { type DemoSecretName, publishedSecrets } from "../config/published-demo-secrets.ts"
import { AppConfig } from "../config/read-config.ts"
import { clientSecretHash, OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { type DemoItem, DemoItems } from "./demo-item-store.ts"
import { type DemoSecret, demoSecret, possibleSecrets } from "./secrets.ts"

type Login = Pick<DemoItem, "kind" | "name" | "secret_hash" | "current_hash">

const matches = Effect.fnUntraced(function* ({ current_hash, kind }: Login, secret: string) {
  if (current_hash === null) return false
  return kind === "client"
    ? clientSecretHash(secret) === current_hash
    : yield* Passwords.use((passwords) => passwords.verify(current_hash, secret))
})

/**
 * Whether a user or an OAuth client still has a secret that the demo set. If the stored hash differs from the
 * recorded one, all possible demo secrets are tried, because a login may have hashed the same password again with
 * other parameters. If none of them matches, a person set the secret, and the account is no longer a demo account.
 */
export const hasDemoSecret = Effect.fnUntraced(function* (login: Login) {
  if (login.current_hash === null) return false
  if (login.current_hash === login.secret_hash) return true
  for (const { secret } of possibleSecrets(yield* AppConfig, login.name)) {
    if (yield* matches(login, secret)) return true
  }
  return false
})

const setSecret = Effect.fnUntraced(function* (login: DemoItem, { from, secret }: DemoSecret) {
  const items = yield* DemoItems
  if (login.kind === "client") {
    yield* items.setSecret(login, { hash: clientSecretHash(secret), from })
    yield* OauthClients.use((clients) => clients.rotate(login.target, secret))
    return
  }
  const hash = yield* AdminUserUpdates.use((updates) => updates.hashPassword(secret))
  yield* items.setSecret(login, { hash, from })
  yield* UserAdmin.use((users) =>
    Effect.flatMap(atMostOnce(users.update(login.target, { password_hash: hash }, "Super")), users.updated),
  )
})

const renew = Effect.fnUntraced(function* (login: DemoItem) {
  const wanted = demoSecret(yield* AppConfig, login.name as DemoSecretName)
  if (login.current_hash === login.secret_hash && login.secret_from === wanted.from) return
  if (yield* matches(login, wanted.secret)) {
    const known = { hash: login.current_hash!, from: wanted.from }
    return yield* DemoItems.use((items) => items.setSecret(login, known))
  }
  if (yield* hasDemoSecret(login)) yield* setSecret(login, wanted)
})

/**
 * Sets the secrets of the demo users and of the demo OAuth client as this configuration requires: the published
 * secrets on loopback or with DEMO_PASSWORDS=published, derived secrets otherwise. This runs before the server
 * accepts requests. It also runs with DEMO=false, because an earlier start may have seeded the published secrets.
 * Secrets that people have set are not changed, and the user of ADMIN_EMAIL is skipped.
 */
export const renewDemoSecrets = Effect.gen(function* () {
  const { adminEmail } = yield* AppConfig
  const left = yield* DemoItems.use((items) => items.left)
  const logins = left.filter(
    ({ kind, name, shown }) =>
      (kind === "user" || kind === "client") && name in publishedSecrets && shown !== adminEmail,
  )
  yield* Effect.forEach(logins, renew, { discard: true })
})
