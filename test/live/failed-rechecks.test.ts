import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { closeCodes } from "../../schema/live-frames.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

it("a logout closes the socket of the user although the first check of the session times out", async () => {
  const service = await serve({ STATEMENT_TIMEOUT_MS: "3000" })
  const callers = await service.runtime.runPromise(CallerCache)
  const user = await service.user()
  const client = await liveSocket(service.url)()
  client.send({ type: "connect", token: user.token })
  await client.take({ type: "connected" })
  await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${user.id}`
  // The lock on `app_user` is held for longer than the statement timeout, so the first check of the session times out.
  await service.sql.begin(async (sql) => {
    await sql`lock table app_user in access exclusive mode`
    await service.runtime.runPromise(callers.invalidating(user.id)(Effect.void))
    await sleep(7000)
  })
  expect(await client.closing).toMatchObject({ code: closeCodes.sessionEnded })
})
