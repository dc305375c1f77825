import { Deferred, Effect, Fiber } from "effect"
import { expect, it } from "vitest"
import { closeCodes } from "../../schema/live-frames.ts"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { liveSocket } from "../fixtures/live-client.ts"
import { serve } from "../fixtures/service.ts"

it("a committed logout closes the socket of the user although its writer does not end its mark", async () => {
  const service = await serve()
  const callers = await service.runtime.runPromise(CallerCache)
  const connect = async () => {
    const user = await service.user()
    const client = await liveSocket(service.url)()
    client.send({ type: "connect", token: user.token })
    await client.take({ type: "connected" })
    const logOut = () =>
      service.sql`update app_user set token_epoch = token_epoch + 1 where id = ${user.id}`.then(() => {})
    return { user, client, logOut }
  }
  const one = await connect()
  const others = [await connect(), await connect()]
  const commits = Deferred.makeUnsafe<void>()
  const statement = Deferred.await(commits).pipe(
    Effect.andThen(Effect.promise(one.logOut)),
    Effect.andThen(Effect.never),
  )
  const write = service.runtime.runFork(callers.invalidating(one.user.id)(statement))
  // The sockets are rechecked in batches, one after the other. The second of these is not in the batch of the first
  // socket, so that one was rechecked before its logout is committed.
  for (const { client, logOut, user } of others) {
    await logOut()
    await service.runtime.runPromise(callers.invalidating(user.id)(Effect.void))
    expect(await client.closing).toMatchObject({ code: closeCodes.sessionEnded })
  }
  Deferred.doneUnsafe(commits, Effect.void)
  expect(await one.client.closing).toMatchObject({ code: closeCodes.sessionEnded })
  await service.runtime.runPromise(Fiber.interrupt(write))
})
