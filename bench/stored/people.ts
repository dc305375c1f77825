import { Effect, Redacted } from "effect"
import type { Sql } from "postgres"
import type { Role } from "../../schema/accounts/scope.ts"
import { Passwords } from "../../src/accounts/passwords.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import { urlOfTarget } from "../load/request.ts"
import type { RunningServer } from "../side.ts"
import { keysOf } from "./open.ts"

const tokenSeconds = 86_400

export const password = "correct horse battery staple"

export const userIdAt = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`
export const emailAt = (n: number): string => `bench-${n}@example.com`

/** Stores users 0 to `people` - 1. All have a confirmed email address and the same password. */
export async function storePeople(sql: Sql, people: number): Promise<void> {
  const hash = await Effect.runPromise(
    Passwords.use((passwords) => passwords.hash(password)).pipe(Effect.provide(Passwords.layer())),
  )
  await sql`
    insert into app_user (id, email, email_verified_at, password_hash)
    select (${userIdAt(0).slice(0, 24)} || lpad(to_hex(n), 12, '0'))::uuid, 'bench-' || n || '@example.com', now(), ${hash}
      from generate_series(0, ${people - 1}::int) n
    on conflict do nothing`
}

/** Stores a public key for each user, because the service gives one to every account. */
export async function storePubkeys(sql: Sql): Promise<void> {
  await sql`
    insert into pubkey (pubkey, user_id, sealed_key)
    select md5(id::text) || md5('end' || id), id, 'bench' from app_user on conflict do nothing`
}

/** Returns access tokens for users 0 to `people` - 1, signed like those of the service. */
export const tokensOf = (server: RunningServer, people: number): Promise<readonly string[]> =>
  tokensFor(
    server,
    Array.from({ length: people }, (_, n) => n),
  )

/** Returns access tokens for the users with these numbers. */
export async function tokensFor(
  server: RunningServer,
  numbers: readonly number[],
  role: Role = "User",
): Promise<readonly string[]> {
  const keys = keysOf(server).map(({ id, secret }) => ({ id, secret: Redacted.make(secret) }))
  const issuer = urlOfTarget(server.target, "")
  const signing = Tokens.use((tokens) =>
    Effect.forEach(numbers, (n) =>
      tokens.sign(
        { sub: userIdAt(n), sid: userIdAt(n), ep: 0, role },
        { kind: "access", ttlSeconds: tokenSeconds },
      ),
    ),
  )
  return Effect.runPromise(signing.pipe(Effect.provide(Tokens.layer({ keys, issuer }))))
}
