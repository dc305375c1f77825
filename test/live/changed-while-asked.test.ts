import { setTimeout as sleep } from "node:timers/promises"
import { expect, it } from "vitest"
import { closeCodes } from "../../schema/live.ts"
import { Callers } from "../../src/services/callers.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"
import { waiting } from "../fixtures/waiting.ts"

it("a logout while a socket's token is being checked closes that socket too", async () => {
  const service = await serve()
  const callers = await service.runtime.runPromise(Callers)
  const user = await service.user()
  await service.sql`insert into two_factor (user_id, provider, confirmed_at) values (${user.id}, 'AuthenticatorApp', now())`
  // Whoever reads a user stops in the middle of it while the lock is held, and goes on with what was true before.
  await service.sql.unsafe(`
    create function pause() returns boolean language sql volatile as
      $$ select pg_advisory_xact_lock_shared(7) is not null $$;
    alter table two_factor rename to two_factor_kept;
    create view two_factor as select * from two_factor_kept where pause()`)
  const client = await liveSocket(service.url)()
  await service.sql.begin(async (sql) => {
    await sql`select pg_advisory_xact_lock(7)`
    client.send({ type: "connect", token: user.token })
    await expect.poll(() => waiting(service)).toHaveLength(1)
    await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${user.id}`
    await service.runtime.runPromise(callers.changed(user.id))
  })
  const closing = await Promise.race([client.closing, sleep(5000)])
  expect(closing).toMatchObject({ code: closeCodes.unauthorized })
})
