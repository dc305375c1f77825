import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { atMostOnce, CurrentOperation, type Operation } from "../../actors/operation.ts"
import { SecurityLog } from "../../src/accounts/security-log/security-log.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { AppConfig } from "../../src/config/read-config.ts"
import { Organizations } from "../../src/organizations/organization-store.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { OauthClients } from "../../src/sign-in/oauth/oauth-client-store.ts"
import { Outbox } from "../../src/turns/outbox.ts"

const none = (service: { readonly key: string }) => Layer.succeed(service as never, {} as never)
const services = Layer.mergeAll(OauthClients.layer, Organizations.layer).pipe(
  Layer.provide(
    Layer.mergeAll(none(Sql), none(Outbox), none(SecurityLog), none(AppConfig)) as Layer.Layer<never>,
  ),
  Layer.provideMerge(
    Bus.layer({ link: undefined, leaseMs: 2000, renewMs: 500, markMs: 10_000, statementMs: 50 }),
  ),
)

it.each([
  [
    "an OAuth client",
    OauthClients.use((clients) => Effect.flatMap(atMostOnce(clients.remove("gone")), clients.removed)),
  ],
  [
    "an organization",
    Organizations.use((all) => Effect.flatMap(atMostOnce(all.remove("gone")), all.removed)),
  ],
] as const)(
  "a retry of deleting %s, whose first attempt died after its commit, drops the users that the statement returned",
  async (_, remove) => {
    const id = randomUUID()
    const operation = {
      committed: { outcome: { rows: [{ user_ids: [id], view: {}, organization_id: null }] } },
    } as unknown as Operation
    const dropped = await Effect.gen(function* () {
      const bus = yield* Bus
      const keys = new Set<string>()
      bus.onInvalidate("user", (changed) => {
        if (changed !== "all") for (const key of changed) keys.add(key)
      })
      yield* Effect.provideService(
        remove as Effect.Effect<unknown, unknown, OauthClients | Organizations>,
        CurrentOperation,
        operation,
      )
      return [...keys]
    }).pipe(Effect.provide(services), Effect.runPromise as never)
    expect(dropped).toEqual([id])
  },
)
