import { createHash, timingSafeEqual } from "node:crypto"
import { Context, Effect, Layer, Schedule } from "effect"
import type { Written } from "../../../actors/operation.ts"
import { NotFound, type Unavailable, Unprocessable } from "../../../schema/errors.ts"
import { arrayList, type Page, type PageRequest } from "../../../schema/paging.ts"
import type {
  NewOauthClient,
  OauthClient,
  OauthClientWithSecret,
  UpdateOauthClient,
} from "../../../schema/sign-in/oauth-client.ts"
import { Bus } from "../../cluster/bus.ts"
import { userTopic } from "../../cluster/topic-names.ts"
import { randomCrockford } from "../../crypto/crockford-base32.ts"
import type { Client } from "../../postgres/client.ts"
import type { WriteOutcome } from "../../postgres/guarded-write.ts"
import { makePages } from "../../postgres/pages.ts"
import { Sql } from "../../postgres/sql.ts"

interface ClientRow {
  readonly client_id: string
  readonly organization_id: string | null
  readonly name: string
  readonly redirect_uris: ReadonlyArray<string>
  readonly created_at: string
  readonly updated_at: string
}

/** A changed client, and its secret if that is new. Only the hash of the secret is stored. */
export type ClientOutcome = WriteOutcome<ClientRow, undefined>
/** A deleted client, and the users whose connections to it have ended. */
type RemovedOutcome = WriteOutcome<ClientRow & { readonly user_ids: ReadonlyArray<string> }, undefined>
export type SecretOutcome = WriteOutcome<ClientRow, { readonly secret: string }>

/** The list of clients, oldest first. */
export const clientList = arrayList("oauth_clients", "Asc", ["time", "text"], 1000)

// The secret has 260 random bits and cannot be guessed, so a fast hash is enough.
const digest = (secret: string) => createHash("sha256").update(secret).digest()
export const clientSecretHash = (secret: string): string => digest(secret).toString("base64url")
const makeSecret = Effect.sync(() => {
  const secret = `svcs_${randomCrockford(52)}`
  return { secret, hash: clientSecretHash(secret) }
})

const display = ({ organization_id, ...row }: ClientRow): OauthClient => ({
  client_id: row.client_id,
  name: row.name,
  redirect_uris: row.redirect_uris,
  created_at: row.created_at,
  updated_at: row.updated_at,
  ...(organization_id === null ? {} : { organization_id }),
})

export const clientOf = ({ rows }: ClientOutcome): OauthClient => display(rows[0]!)
export const clientWithSecret = ({ keep, rows }: SecretOutcome): OauthClientWithSecret => ({
  ...display(rows[0]!),
  client_secret: keep.secret,
})

const columns = (q: Client) =>
  q`c.client_id, c.organization_id, c.name, c.redirect_uris, c.created_at, c.updated_at`

/**
 * Removes users from all caches: the users of every client that was deleted in the last hour. This is used after a
 * deletion with an unknown outcome. It is also used after a deletion that found no client, because an earlier attempt
 * may have deleted the client, and its response may have been lost.
 */
export const invalidateRecentlyEnded = Effect.fnUntraced(function* (
  sql: Sql["Service"],
  bus: Bus["Service"],
) {
  const users = yield* sql.rows<{ readonly id: string }>(
    (q) => q`select distinct user_id::text as id from oauth_grant
              where client_id is null and revoked_at > now() - interval '1 hour'`,
  )
  yield* bus.invalidate(
    userTopic,
    users.map(({ id }) => id),
  )
})

/** The users who have connected one of these clients. */
export const findGrantees = (sql: Sql["Service"], clientIds: ReadonlyArray<string>) =>
  sql
    .rows<{ readonly id: string }>(
      (q) => q`select distinct user_id::text as id from oauth_grant
                where client_id = any(${clientIds as string[]}) and revoked_at is null`,
    )
    .pipe(Effect.map((rows) => rows.map(({ id }) => id)))

const retryPolicy = { schedule: Schedule.spaced("5 seconds"), times: 600 }

/**
 * Invalidates the affected users after a deletion with an unknown outcome, which may have committed or may still
 * commit. It does so immediately, and again after the statement timeout, when the deletion can no longer commit. The
 * second time, it retries for up to 50 minutes until it succeeds.
 */
export const invalidatePossiblyEnded = (sql: Sql["Service"], bus: Bus["Service"]) => {
  const invalidate = invalidateRecentlyEnded(sql, bus)
  const later = Effect.delay(Effect.retry(invalidate, retryPolicy), sql.statementTimeoutMs)
  return Effect.forkDetach(Effect.andThen(Effect.ignore(invalidate), Effect.ignore(later)))
}

const clientNotFound = () => new NotFound({ error: "OAuth client not found. Check the client_id." })

/** Stores OAuth clients. These are applications that use the authorization-code flow. */
export class OauthClients extends Context.Service<
  OauthClients,
  {
    create(
      facts: NewOauthClient,
      fixed?: { readonly clientId: string; readonly secret: string },
    ): Effect.Effect<Written<SecretOutcome>, Unprocessable | Unavailable>
    list(page: PageRequest): Effect.Effect<Page<OauthClient>, Unavailable>
    find(clientId: string): Effect.Effect<OauthClient | undefined, Unavailable>
    /** Returns the client if the secret is correct, otherwise undefined. */
    findBySecret(clientId: string, secret: string): Effect.Effect<OauthClient | undefined, Unavailable>
    update(
      clientId: string,
      changes: UpdateOauthClient,
    ): Effect.Effect<Written<ClientOutcome>, NotFound | Unavailable>
    /** Replaces the secret with `given`, or with a random secret. The old secret stops working. */
    rotate(clientId: string, given?: string): Effect.Effect<Written<SecretOutcome>, NotFound | Unavailable>
    remove(clientId: string): Effect.Effect<Written<RemovedOutcome>, NotFound | Unavailable>
    /** Drops the users from the caches again, and returns the deleted client. */
    removed(outcome: RemovedOutcome): Effect.Effect<OauthClient, Unavailable>
  }
>()("directory/OauthClients") {
  static readonly layer = Layer.effect(
    OauthClients,
    Effect.gen(function* () {
      const sql = yield* Sql
      const pages = yield* makePages
      const bus = yield* Bus
      const findRow = (clientId: string) =>
        sql
          .rows<ClientRow & { readonly secret_hash: string }>(
            (q) => q`select ${columns(q)}, c.secret_hash from oauth_client c where c.client_id = ${clientId}`,
          )
          .pipe(Effect.map((rows) => rows[0]))
      const ifFound = <Outcome extends WriteOutcome<ClientRow, unknown>>(written: Written<Outcome>) =>
        written.outcome.rows.length > 0 ? Effect.succeed(written) : Effect.fail(clientNotFound())

      return OauthClients.of({
        create: Effect.fnUntraced(function* ({ name, organization_id, redirect_uris }, fixed) {
          const made = fixed === undefined ? yield* makeSecret : undefined
          const secret = made?.secret ?? fixed!.secret
          const hash = made?.hash ?? clientSecretHash(secret)
          const clientId = fixed?.clientId ?? randomCrockford(20)
          return yield* sql.write
            .attempt<ClientRow, SecretOutcome["keep"]>(
              (
                q,
              ) => q`insert into oauth_client as c (client_id, organization_id, name, secret_hash, redirect_uris)
                       values (${clientId}, ${organization_id ?? null}, ${name}, ${hash}, ${redirect_uris as string[]})
                       on conflict (client_id) do update set updated_at = now() returning ${columns(q)}`,
              { keep: { secret } },
            )
            .pipe(
              Effect.catchTag("SqlRefused", (refused) =>
                refused.sqlstate === "23503"
                  ? Effect.fail(
                      new Unprocessable({
                        error: "organization_id: organization not found.",
                        fields: { organization_id: [{ code: "unknown", message: "organization not found" }] },
                      }),
                    )
                  : Effect.die(refused),
              ),
            )
        }),
        list: (page) =>
          Effect.map(
            pages.read<ClientRow>(page, clientList.sorts.only, (q) => ({
              ranges: [q`oauth_client where true`],
              keys: [q`created_at`, q`client_id`],
              item: q`select ${columns(q)} from oauth_client c where c.client_id = p.k1`,
            })),
            (found) => ({ ...found, rows: found.rows.map(display) }),
          ),
        find: (clientId) => findRow(clientId).pipe(Effect.map((row) => row && display(row))),
        findBySecret: (clientId, secret) =>
          findRow(clientId).pipe(
            Effect.map((row) => {
              // The secret is compared for unknown clients too, so that the response time does not reveal which
              // clients exist.
              const stored = Buffer.from(
                row?.secret_hash ?? digest(clientId).toString("base64url"),
                "base64url",
              )
              return timingSafeEqual(stored, digest(secret)) && row !== undefined ? display(row) : undefined
            }),
          ),
        update: Effect.fnUntraced(function* (clientId, { name, redirect_uris }) {
          const written = yield* sql.write.rows<ClientRow>(
            (q) => q`update oauth_client c
                        set name = coalesce(${name ?? null}, name), updated_at = now(),
                            redirect_uris = coalesce(${(redirect_uris as string[] | null | undefined) ?? null}::text[], redirect_uris)
                      where client_id = ${clientId} returning ${columns(q)}`,
          )
          return yield* ifFound(written)
        }),
        rotate: Effect.fnUntraced(function* (clientId, given) {
          const { hash, secret } =
            given === undefined ? yield* makeSecret : { hash: clientSecretHash(given), secret: given }
          const written = yield* sql.write.rows<ClientRow, SecretOutcome["keep"]>(
            (q) => q`update oauth_client c set secret_hash = ${hash}, updated_at = now()
                      where client_id = ${clientId} returning ${columns(q)}`,
            { keep: { secret } },
          )
          return yield* ifFound(written)
        }),
        remove: Effect.fnUntraced(function* (clientId) {
          const known = yield* findGrantees(sql, [clientId])
          const removed = yield* sql.write
            .rows<RemovedOutcome["rows"][number]>(
              (
                q,
              ) => q`delete from oauth_client c using (select end_grants(array[${clientId}]) as user_ids) ended
                      where c.client_id = ${clientId} returning ${columns(q)}, ended.user_ids`,
            )
            .pipe(
              bus.invalidating({ [userTopic]: known }),
              Effect.tapError(() => invalidatePossiblyEnded(sql, bus)),
            )
          if (removed.outcome.rows.length === 0)
            return yield* Effect.andThen(invalidateRecentlyEnded(sql, bus), clientNotFound())
          return removed
        }),
        // Some users may have connected the client after their ids were read before the statement.
        removed: (outcome) =>
          Effect.as(bus.invalidate(userTopic, outcome.rows[0]!.user_ids), clientOf(outcome)),
      })
    }),
  )
}
