import { setImmediate as turn } from "node:timers/promises"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { closeCodes } from "../../schema/live-frames.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

/** Makes the database evaluate an SQL expression in the middle of reading a user with two-factor authentication. */
const whileReading = async ({ sql }: TestService, userId: string, what: string) => {
  await sql`insert into two_factor (user_id, provider, confirmed_at) values (${userId}, 'AuthenticatorApp', now())`
  await sql.unsafe(`
    create function pause() returns boolean language sql volatile as $$ select ${what} is not null $$;
    alter table two_factor rename to two_factor_kept;
    create view two_factor as select * from two_factor_kept where pause()`)
}

it("a logout during the token check of a connecting socket closes the socket", async () => {
  const service = await serve()
  const callers = await service.runtime.runPromise(CallerCache)
  const user = await service.user()
  // The token check waits for the lock, then continues with data that it read before the logout.
  await whileReading(service, user.id, "pg_advisory_xact_lock_shared(7)")
  const client = await liveSocket(service.url)()
  await service.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(7)`
    client.send({ type: "connect", token: user.token })
    await expect.poll(() => waiting(service)).toHaveLength(1)
    await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${user.id}`
    await service.runtime.runPromise(callers.invalidating(user.id)(Effect.void))
  })
  expect(await client.closing).toMatchObject({ code: closeCodes.unauthorized })
})

it("a socket can connect while the permissions of another user change continuously", async () => {
  const service = await serve()
  const callers = await service.runtime.runPromise(CallerCache)
  const [user, other] = [await service.user(), await service.user()]
  await whileReading(service, user.id, "pg_sleep(0.05)")
  const client = await liveSocket(service.url)()
  let isIn = false
  const changing = (async () => {
    while (!isIn) {
      await service.runtime.runPromise(callers.invalidating(other.id)(Effect.void))
      await turn()
    }
  })()
  client.send({ type: "connect", token: user.token })
  const greeting = await Promise.race([client.take({ type: "connected" }), client.closing])
  isIn = true
  await changing
  expect(greeting).toMatchObject({ type: "connected" })
})
