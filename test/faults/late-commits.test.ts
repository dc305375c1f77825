import { Effect } from "effect"
import { expect, it, vi } from "vitest"
import { CallerCache } from "../../src/accounts/caller-cache.ts"
import { login, password, register } from "../accounts/person.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { patiently } from "../fixtures/suite/patience.ts"
import { waiting } from "../fixtures/waiting.ts"
import { startWorker } from "../fixtures/worker.ts"

// A statement can still commit after its process has ended. That process can then no longer announce the change.

/**
 * A statement timeout that leaves enough time to stop a process on a busy machine while its statement still runs. After
 * this time the other processes read the database again.
 */
const slowStatements = { STATEMENT_TIMEOUT_MS: "12000" }

/** Sends requests until the process has the user in its cache. */
const warm = async (service: TestService, { id, token }: { readonly id: string; readonly token: string }) => {
  const remembers = CallerCache.use((callers) => Effect.sync(() => callers.remembered(id) !== undefined))
  await vi.waitUntil(async () => {
    expect((await service.call("GET", "/account", { token })).status).toBe(200)
    return service.runtime.runPromise(remembers)
  }, patiently)
}

/**
 * Starts a password change at the given URL. Returns when a lock blocks its statement. The returned function releases
 * the lock.
 */
const startChange = async (
  { sql }: TestService,
  { id, token }: { readonly id: string; readonly token: string },
  url: string,
) => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let locked = (): void => {}
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const lock = sql.begin(async (tx) => {
    await tx`select 1 from app_user where id = ${id} for update`
    locked()
    await held
  })
  await isLocked
  const body = JSON.stringify({ password: "another password", current_password: password })
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` }
  let isSent = false
  const send = async () => {
    isSent = true
    await fetch(`${url}/account`, { method: "PATCH", headers, body }).catch(() => {})
    isSent = false
  }
  await vi.waitUntil(async () => {
    // A busy process can reject the request before it runs a statement. The request is then sent again.
    if (!isSent) void send()
    return (await waiting({ sql })).length > 0
  }, patiently)
  return async () => {
    release()
    await lock
    await vi.waitUntil(async () => {
      const [user] = await sql`select 1 from app_user where id = ${id} and token_epoch > 0`
      return user !== undefined
    }, patiently)
  }
}

it("a new process sees a change that a statement of a killed process commits after the kill", async () => {
  const before = await serve()
  const person = await register(before)
  const killed = await startWorker(before.database)
  const release = await startChange(before, person, killed.url)
  await killed.kill()
  // The new process can use its caches only after the statement has ended, so it answers from the database.
  const after = await serve({}, { database: before.database, peersPossible: true })
  expect((await after.call("GET", "/account", person)).status).toBe(200)
  await release()
  await expect.poll(async () => (await after.call("GET", "/account", person)).status, patiently).toBe(401)
  expect((await login(after, person.email, "another password")).status).toBe(200)
})

it("a running process sees a change that a process commits while it stops", async () => {
  const other = await serve(slowStatements, { peersPossible: true })
  const stopping = await serve(
    { ...slowStatements, DRAIN_SECONDS: "1" },
    { database: other.database, peersPossible: true },
  )
  const person = await register(other)
  await warm(other, person)
  const release = await startChange(other, person, stopping.url)
  // The stopping process waits for its statement, so that the other one learns about the change.
  const stopped = stopping.stop()
  expect((await other.call("GET", "/account", person)).status).toBe(200)
  await release()
  await expect.poll(async () => (await other.call("GET", "/account", person)).status, patiently).toBe(401)
  await stopped
})
