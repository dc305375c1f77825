import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { closeCodes } from "../../schema/live-frames.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

it("a logout closes the socket of the user although an earlier session check of another user failed", async () => {
  const service = await serve()
  const callers = await service.runtime.runPromise(CallerCache)
  const [one, other] = [await service.user(), await service.user()]
  const open = async (token: string) => {
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token })
    await client.take({ type: "connected" })
    return client
  }
  const [, second] = [await open(one.token), await open(other.token)]
  await service.sql`alter table two_factor rename to two_factor_away`
  await service.runtime.runPromise(callers.invalidating(one.id)(Effect.void))
  await sleep(500)
  await service.sql`alter table two_factor_away rename to two_factor`
  await service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${other.id}`
  await service.runtime.runPromise(callers.invalidating(other.id)(Effect.void))
  expect(await second.closing).toMatchObject({ code: closeCodes.sessionEnded })
})
