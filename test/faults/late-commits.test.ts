import { Effect } from "effect"
import { expect, it, vi } from "vitest"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { login, password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { waiting } from "../fixtures/waiting.ts"
import { startWorker } from "../fixtures/worker.ts"

/** A process that ends leaves behind what it asked the database for, which may be done when nobody is there to tell of it. */

/** Enough for a busy machine to end a process while the database still works for it. The others look again after it. */
const slowly = { STATEMENT_TIMEOUT_MS: "12000" }

/** Until the process answers for the user by what it remembers. */
const warm = async (service: TestService, { id, token }: { readonly id: string; readonly token: string }) => {
  const remembers = CallerCache.use((callers) => Effect.sync(() => callers.remembered(id) !== undefined))
  await vi.waitUntil(async () => {
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
    return service.runtime.runPromise(remembers)
  }, patiently)
}

/** Changes the password at the given address, and waits until the database holds that up. */
const beginToChange = async (
  { sql }: TestService,
  { id, token }: { readonly id: string; readonly token: string },
  url: string,
) => {
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const lock = sql.begin(async (tx) => {
    await tx`select 1 from app_user where id = ${id} for update`
    await held
  })
  const body = JSON.stringify({ password: "another password", current_password: password })
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
  fetch(`${url}/account`, { method: "PATCH", headers, body }).catch(() => {})
  await vi.waitUntil(async () => (await waiting({ sql })).length > 0, patiently)
  return async () => {
    letGo()
    await lock
    await vi.waitUntil(async () => {
      const [user] = await sql`select 1 from app_user where id = ${id} and token_epoch > 0`
      return user !== undefined
    }, patiently)
  }
}

it("of one that was killed are seen by one that has come since", async () => {
  const before = await serve()
  const person = await register(before)
  const doomed = await startWorker(before.database)
  const letGo = await beginToChange(before, person, doomed.url)
  await doomed.kill()
  const after = await serve({}, { database: before.database, peersPossible: true })
  await warm(after, person)
  await letGo()
  await expect.poll(async () => (await after.call("GET", "/account", person)).status, patiently).toBe(401)
  expect((await login(after, person.email, "another password")).status).toBe(200)
})

it("of one that was stopped, and did not wait for them, are seen by the others", async () => {
  const other = await serve(slowly, { peersPossible: true })
  const stopping = await serve(
    { ...slowly, DRAIN_SECONDS: "1" },
    { database: other.database, peersPossible: true },
  )
  const person = await register(other)
  await warm(other, person)
  const letGo = await beginToChange(other, person, stopping.url)
  await stopping.stop()
  await warm(other, person)
  await letGo()
  await expect.poll(async () => (await other.call("GET", "/account", person)).status, patiently).toBe(401)
})
