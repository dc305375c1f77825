import { Effect } from "effect"
import { isLoopback } from "../config/loopback.ts"
import { publishedSecrets } from "../config/published-demo-secrets.ts"
import { AppConfig } from "../config/read-config.ts"
import { DemoItems } from "../demo/demo-item-store.ts"
import { demoIds } from "../demo/ids.ts"
import { alice } from "../demo/people.ts"

/** What the home page offers to a visitor who wants to try the service. */
export interface DemoFacts {
  /** The demo ids that are registered. */
  readonly ids: ReadonlyArray<string>
  /** The demo user as whom a visitor may sign in. Undefined if there is none. */
  readonly login: { readonly name: string; readonly email: string; readonly password: string } | undefined
}

const none: DemoFacts = { ids: [], login: undefined }

const hostOf = (header: string): string =>
  URL.canParse(`http://${header}`) ? new URL(`http://${header}`).hostname : ""

/**
 * Returns the demo data for the home page. Production has none. The demo user is offered only if this machine alone
 * can connect, the request comes from this machine, and the user still has the password that the README publishes.
 */
export const demoFacts = Effect.fnUntraced(function* ({
  address,
  host,
}: {
  readonly address: string
  readonly host: string
}) {
  const config = yield* AppConfig
  if (config.production || !config.demo) return none
  const items = yield* Effect.orElseSucceed(
    DemoItems.use(({ left }) => left),
    () => [],
  )
  const ids = demoIds
    .map(({ emojis }) => emojis)
    .filter((emojis) => items.some(({ kind, target }) => kind === "id" && target === emojis))
  const isLocal = isLoopback(config.host) && isLoopback(address) && isLoopback(hostOf(host))
  const hasLogin = items.some(
    ({ current_hash, kind, secret_from, secret_hash, shown, usable }) =>
      kind === "user" &&
      shown === alice.email &&
      usable &&
      secret_from === "published" &&
      current_hash === secret_hash,
  )
  if (!isLocal || !hasLogin) return { ids, login: undefined }
  const { email, firstName } = alice
  return { ids, login: { name: firstName, email, password: publishedSecrets[email] } }
})
