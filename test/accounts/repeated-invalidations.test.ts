import { randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { Publisher } from "../../actors/ports.ts"
import { Unavailable } from "../../schema/errors.ts"
import { Accounts } from "../../src/accounts/account-store.ts"
import { ApiKeys } from "../../src/accounts/api-keys/api-key-store.ts"
import { ApiKeyUses } from "../../src/accounts/api-keys/api-key-use-store.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { MagicLinks } from "../../src/accounts/login/magic-links.ts"
import { Passwords } from "../../src/accounts/passwords.ts"
import { SecurityLog } from "../../src/accounts/security-log/security-log.ts"
import { OneTimeCodes } from "../../src/accounts/sessions/one-time-codes.ts"
import { Sessions } from "../../src/accounts/sessions/sessions.ts"
import { UserAdmin } from "../../src/accounts/user-admin-store.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { AppConfig } from "../../src/config/read-config.ts"
import { masterKeys } from "../../src/config/secret-keys.ts"
import { CustodialKeys } from "../../src/crypto/custodial-keys.ts"
import { Seal } from "../../src/crypto/envelope-encryption.ts"
import { RateLimits } from "../../src/http/limits/rate-limits.ts"
import { Members } from "../../src/organizations/member-store.ts"
import { Organizations } from "../../src/organizations/organization-store.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { OauthClients } from "../../src/sign-in/oauth/oauth-client-store.ts"
import { Outbox } from "../../src/turns/outbox.ts"
import { testConfig } from "../fixtures/service.ts"

/** A statement that fails with an unknown outcome: it may be committed later, after the caches were invalidated. */
const lost = () =>
  Effect.fail(new Unavailable({ error: "The database is not reachable.", retryAfterSeconds: 1 }))
const unreachable = Layer.succeed(Sql, {
  rows: lost,
  attempt: lost,
  write: { rows: lost, attempt: lost, once: lost },
  statementTimeoutMs: 50,
} as unknown as Sql["Service"])
const surroundings = Layer.mergeAll(
  unreachable,
  Bus.layer({ link: undefined, leaseMs: 2000, renewMs: 500, markMs: 10_000, statementMs: 50 }),
  Layer.succeed(AppConfig, { ...testConfig(), statementTimeoutMs: 50 }),
  Layer.provide(CustodialKeys.layer, Seal.layer({ keys: masterKeys(testConfig()) })),
)
const id = randomUUID()

/**
 * Checks that `id` is invalidated twice. Returns the keys that were already invalidated when the operation failed.
 */
const invalidatedBy = <A, E>(topic: string, operation: Effect.Effect<A, E, ApiKeys | Members | UserAdmin>) =>
  Effect.gen(function* () {
    const bus = yield* Bus
    const keys: Array<string> = []
    bus.onInvalidate(topic, (changed) => changed !== "all" && keys.push(...changed))
    yield* Effect.flip(operation)
    const first = [...keys]
    yield* Effect.promise(() => expect.poll(() => keys).toEqual([id, id]))
    return first
  }).pipe(
    Effect.provide(
      Layer.mergeAll(ApiKeys.layer, Members.layer, UserAdmin.layer).pipe(
        Layer.provide(Layer.mergeAll(ApiKeyUses.layer, CallerCache.layer, SecurityLog.layer)),
        Layer.provideMerge(surroundings),
      ),
    ),
    Effect.runPromise,
  )

it("if the outcome of deleting an API key is unknown, the cached key is invalidated twice", async () => {
  const remove = ApiKeys.use((keys) => keys.remove(id, { userId: randomUUID(), roles: [] }))
  expect(await invalidatedBy("api_key", remove)).toEqual([id])
})

it("if the outcome of deleting a user is unknown, the cached user is invalidated twice", async () => {
  const remove = UserAdmin.use((users) => users.remove(id, { by: "Admin", insists: false }))
  expect(await invalidatedBy("user", remove)).toEqual([id])
})

it("if the outcome of removing a member is unknown, the cached member is invalidated twice", async () => {
  const remove = Members.use((members) => members.remove(randomUUID(), id, true))
  expect(await invalidatedBy("user", remove)).toEqual([id])
})

it("if the outcome of using a mailed link is unknown, the user's cached API keys are invalidated twice", async () => {
  const link = { userId: randomUUID(), email: "", purpose: "confirm", keyIds: [id] }
  const rows = () => Effect.succeed([link])
  const none = (service: { readonly key: string }) => Layer.succeed(service as never, {} as never)
  const links = MagicLinks.layer.pipe(
    Layer.provide(
      [Accounts, RateLimits, Outbox, Passwords, Publisher, SecurityLog, Sessions].map(none) as never,
    ),
    Layer.provide(Layer.succeed(OneTimeCodes, { lookupHashes: () => [] } as never)),
    Layer.provide(CallerCache.layer),
    Layer.provide(Layer.succeed(Sql, { rows, write: { rows: lost } } as unknown as Sql["Service"])),
    Layer.provide(surroundings),
  )
  const use = MagicLinks.use((service) => service.consume("token", { discardsCredentials: true }))
  expect(await invalidatedBy("api_key", use.pipe(Effect.provide(links)) as never)).toEqual([id])
})

it.each([
  ["an OAuth client", OauthClients.use((clients) => clients.remove("gone"))],
  [
    "an organization with OAuth clients",
    Organizations.use((organizations) => organizations.remove(randomUUID())),
  ],
] as const)(
  "if the outcome of deleting %s is unknown, its cached users are invalidated when the database responds again",
  async (_, remove) => {
    let reads = 0
    const rows = (statement: (q: never) => unknown) => {
      const text = statement(((strings: ReadonlyArray<string>) => strings.join("?")) as never) as string
      if (!text.trim().startsWith("select") || text.includes("remove_organization")) return lost()
      // Nobody has connected the client when it is read first. The second read is lost too.
      reads++
      return reads === 2 ? lost() : Effect.succeed(reads === 1 ? [] : [{ id }])
    }
    const keys = await Effect.gen(function* () {
      const bus = yield* Bus
      const keys: Array<string> = []
      bus.onInvalidate("user", (changed) => changed !== "all" && keys.push(...changed))
      yield* Effect.flip(remove as Effect.Effect<unknown, unknown, OauthClients | Organizations>)
      yield* Effect.promise(() => expect.poll(() => keys).toEqual([id, id]))
      return keys
    }).pipe(
      Effect.provide(
        Layer.mergeAll(OauthClients.layer, Organizations.layer).pipe(
          Layer.provide(
            Layer.mergeAll(
              Layer.succeed(Sql, {
                rows,
                attempt: rows,
                write: { rows, attempt: rows },
                statementTimeoutMs: 50,
              } as unknown as Sql["Service"]),
              Layer.succeed(Outbox, {} as unknown as Outbox["Service"]),
              Layer.succeed(SecurityLog, {} as unknown as SecurityLog["Service"]),
            ),
          ),
          Layer.provideMerge(surroundings),
        ),
      ),
      Effect.runPromise,
    )
    expect(keys).toEqual([id, id])
  },
)
