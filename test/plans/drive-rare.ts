import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { entityIdAt } from "../../bench/stored/entities.ts"
import { canonicalAt } from "../../bench/stored/ids.ts"
import { emailAt, userIdAt } from "../../bench/stored/people.ts"
import { Accounts } from "../../src/accounts/account-store.ts"
import { Parties } from "../../src/accounts/party-store.ts"
import { makeTwoFactorStore } from "../../src/accounts/two-factor/two-factor-store.ts"
import { UserAdmin } from "../../src/accounts/user-admin-store.ts"
import { UserList } from "../../src/accounts/user-list-store.ts"
import { Bus } from "../../src/cluster/bus.ts"
import { IdImports } from "../../src/directory/id-import-store.ts"
import { makeIdempotencyStore } from "../../src/http/idempotency-store.ts"
import { makeRateWindowStore } from "../../src/http/limits/rate-window-store.ts"
import { makeGiveMissingKeys } from "../../src/keys/missing-keys.ts"
import { pruneChannels, pruneEvents } from "../../src/live/retention.ts"
import { InterestNotices } from "../../src/market/interest-notices.ts"
import { makeMarketStore } from "../../src/market/market-store.ts"
import { deleteExpiredRows } from "../../src/operations/housekeeping.ts"
import { cleanCancelledOrders } from "../../src/orders/cleanup.ts"
import { makeCleanupStore } from "../../src/orders/cleanup-store.ts"
import { Codes } from "../../src/orders/codes/code-store.ts"
import { makeLedgerStore } from "../../src/orders/ledger-store.ts"
import { PaymentMethods } from "../../src/orders/payments/payment-method-store.ts"
import { makeSandboxStore } from "../../src/orders/payments/sandbox-store.ts"
import { makeReleaseStore } from "../../src/orders/refunds/release-store.ts"
import { storePartnerIds } from "../../src/partners/partner-id-store.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { makeAuthorizationCodeStore } from "../../src/sign-in/oauth/authorization-code-store.ts"
import { invalidateRecentlyEnded } from "../../src/sign-in/oauth/oauth-client-store.ts"
import { CodeAttempts } from "../../src/transfers/code-attempt-store.ts"
import { makeTransferFacts } from "../../src/transfers/facts-store.ts"
import { TransferLists } from "../../src/transfers/transfer-store.ts"
import { Events } from "../../src/turns/event-store.ts"
import { Outbox } from "../../src/turns/outbox.ts"
import { directoryRequests } from "../http/keyed-routes/directory-requests.ts"
import { organizationRequests } from "../http/keyed-routes/organization-requests.ts"
import type { Steps } from "./drive.ts"
import type { DrivenService } from "./driven-service.ts"

const keyedRequests = { ...directoryRequests, ...organizationRequests }

const n = 11
const id = userIdAt(n)
const order = entityIdAt(n)
const lock = { wrongCodes: 5, seconds: 60 }
const importedId = {
  n: 1,
  canonical: canonicalAt(900_000),
  user_id: id,
  source: "bench",
  display: undefined,
  records: [{ hash: "bench", tag: 2, data: "bench", single_key: undefined }],
}
const keyRun = { caller: id, key: "bench", run: randomUUID() }

/** What a process does by itself, in the background. */
const background = {
  housekeeping: deleteExpiredRows,
  "missing keys": Effect.flatten(makeGiveMissingKeys),
  "old cancelled orders": cleanCancelledOrders,
  "event retention": pruneEvents([`bench:${id}`]),
  "channel retention": pruneChannels(0),
  "a new floor of deleted channels": Events.use((events) => events.raiseChannelFloor(1, 0)),
  "delivery of mail": Outbox.use((outbox) =>
    Effect.all([
      outbox.take({ total: 2, urgent: 1, other: 1 }, []),
      outbox.hold({ id: 1, tries: 1 }),
      outbox.retryLater({ id: 1, tries: 1 }),
      outbox.sent(1),
      outbox.giveUp(1),
    ]),
  ),
  "live events of other processes": Events.use((events) =>
    Effect.all([
      events.news([{ name: `order:${order}`, epoch: id, offset: 0 }]),
      events.after(`bench:${id}`, 0, 10),
    ]),
  ),
  "the audit of the ledger": Effect.flatMap(makeLedgerStore, (ledger) =>
    Effect.all([ledger.continueAudit(2000, 0), ledger.countCancelledWithMoney()]),
  ),
  "rate limits": Effect.flatMap(makeRateWindowStore, (windows) =>
    Effect.all([windows.take(["bench:1"], [60]), windows.giveBack(["bench:1"]), windows.remove(["bench:1"])]),
  ),
}

/** Statements that requests send only in rare cases, for example after a failure or for old data. */
const rareCases = {
  "an account from before emails were normalised": Accounts.use((accounts) =>
    Effect.all([
      accounts.find({ email: emailAt(n), spelling: "another" }),
      accounts.find({ alternateId: "bench" }),
      accounts.findLeftEmail(id),
      accounts.rehash(id, "old", "new"),
    ]),
  ),
  "a transfer to a public key": Effect.all([
    Parties.use((parties) => Effect.all([parties.findByPubkey("00"), parties.isGone(id)])),
    Effect.flatMap(makeTransferFacts, (facts) => facts.ofRequest(canonicalAt(n), { pubkey: "00" })),
  ]),
  "a transfer to a person without an account": Parties.use((parties) =>
    parties.invite("invited@example.com"),
  ),
  "a refused transfer with the correct code": CodeAttempts.use((attempts) => attempts.giveBack(id)),
  "held mail": Outbox.use((outbox) => Effect.all([outbox.unsent(200), outbox.retryUnsent(-1)])),
  "the command line": UserAdmin.use((users) =>
    Effect.all([
      users.create({ email: "cli@example.com", role: "User", passwordHash: "bench" }),
      Effect.exit(users.removeDemo(userIdAt(n + 1), "Super")),
    ]),
  ),
  "users by email and their place in the list": UserList.use((users) =>
    Effect.all([users.findIdByEmail(emailAt(n)), users.passwordHash(id), users.positionOf(id)]),
  ),
  "an import of ids": Effect.provide(
    IdImports.use((imports) => imports.importBatch([importedId])),
    IdImports.layer,
  ),
  "backup codes": Effect.flatMap(makeTwoFactorStore, (store) =>
    store.disableByCountedBackup(id, randomUUID(), ["bench"], undefined, lock),
  ),
  "a request that failed before its commit": Effect.flatMap(makeIdempotencyStore, (keys) =>
    Effect.all([keys.free(keyRun), keys.find(id, "bench", "bench")]),
  ),
  "new prices": Effect.flatMap(makeMarketStore, (market) => market.findWantedIds()),
  "a payment for a purged order": Effect.flatMap(makeCleanupStore, (orders) =>
    Effect.all([orders.purge([{ id: order, version: 1 } as never]), orders.restore(order)]),
  ),
  "a payment that was booked before": Effect.flatMap(makeLedgerStore, (ledger) =>
    ledger.findOrderOfPayment("bench:1"),
  ),
  "the ids of a partner": storePartnerIds(id, { conversionId: "c", transactionId: "t" }),
  "accepted transfers in another order": TransferLists.use((transfers) =>
    transfers.listAccepted("2026-01-01T00:00:00.000Z", id, {
      ...{ dir: "Desc", limit: 10, page: 0, sort: "created_at" },
    }),
  ),
  "the uses of a code": Codes.use((codes) => codes.usesOf(id, id)),
  "a deleted payment method": PaymentMethods.use((methods) =>
    Effect.all([methods.listToDetach(["sandbox"]), Effect.exit(methods.delete(id, "pm_none"))]),
  ),
  "a cancelled intent": Effect.flatMap(makeSandboxStore, (sandbox) =>
    Effect.all([sandbox.isCancelled("in_bench_1"), sandbox.capturesOf("in_bench_1")]),
  ),
  "a refund": Effect.flatMap(makeReleaseStore, (releases) => releases.findKept(order, id, [canonicalAt(n)])),
  "stolen OAuth tokens": Effect.flatMap(makeAuthorizationCodeStore, (grants) =>
    Effect.all([
      grants.revokeGrantOfCode(id, "bench-1", undefined),
      grants.revokeGrant(id, "bench-1", undefined),
    ]),
  ),
  "a deleted OAuth client": Effect.gen(function* () {
    yield* invalidateRecentlyEnded(yield* Sql, yield* Bus)
  }),
}

/** What functions do only in rare cases: each calls a function that another one calls then. */
const rareFunctions = Sql.use((sql) =>
  Effect.all([
    sql.rows((q) => q`select give_back_address(u) from app_user u where id = ${userIdAt(n + 2)}`),
    sql.rows(
      (q) =>
        q`select put_revokes(jsonb_build_array(to_jsonb(e))) from emoji_id e where canonical = ${canonicalAt(n)}`,
    ),
    sql.rows(
      (q) => q`select place_many_events(jsonb_build_array(jsonb_build_object(
                             'channel', 'bench:' || ${id}, 'type', 'bench', 'data', '{}'::jsonb)))`,
    ),
  ]),
)

/** Lets a request use an API key. */
const useApiKey = async ({ service }: DrivenService): Promise<void> => {
  const { token } = await service.user()
  const key = { name: "bench", scopes: [] }
  const { body } = await service.call("POST", "/api_keys", { token, body: key })
  await service.call("GET", "/account", { headers: { "x-api-key": body.api_key } })
  await service.call("POST", "/api_keys", { token, body: { ...key, expires_at: "2020-01-01T00:00:00Z" } })
}

/** Lets an id become free that a user wants. */
const freeWantedId = async ({ service, sql }: DrivenService): Promise<void> => {
  await sql`insert into freed_id (canonical) values (${canonicalAt(n)})`
  await service.runtime.runPromise(InterestNotices.use(({ round }) => round))
}

export const driveRare = async (driven: DrivenService, steps: Steps): Promise<void> => {
  const { service, sql } = driven
  await useApiKey(driven)
  steps.ended("a request with an API key")
  await freeWantedId(driven)
  steps.ended("an id that became free")
  for (const name of ["putMember", "setBranding", "updateOrganization", "addPubkey"]) {
    const { method, options, path } = await keyedRequests[name]!(service)
    await service.call(method, path, options)
    steps.ended(`${method} ${path}`)
  }
  await sql`update order_cleanup set begun_at = '-infinity'`
  for (const [name, work] of Object.entries({ ...background, ...rareCases, functions: rareFunctions })) {
    await service.runtime.runPromise(work as Effect.Effect<unknown, unknown, never>)
    steps.ended(name)
  }
}
