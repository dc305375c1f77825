import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { type LiveClient, liveSocket } from "../../fixtures/live-client.ts"
import { serve, type TestService } from "../../fixtures/service.ts"
import { endGrace, login, register, totpCode, turnOnTotp } from "../person.ts"

/** In `short`, the grace period ends soon. In `long`, it does not end during a test. */
const short = await serve({ TWO_FACTOR_GRACE_SECONDS: "2" }, { peersPossible: true })
const long = await serve({}, { peersPossible: true })

const listen = async ({ url }: TestService, token: string) => {
  const client = await liveSocket(url)()
  client.send({ type: "connect", token })
  client.send({ type: "subscribe", channel: "session" })
  const { state } = await client.take({ type: "subscribed" })
  return { client, state }
}
const stateNow = async (service: TestService, token: string) => {
  const { client, state } = await listen(service, token)
  client.close()
  return state as ReadonlyArray<{ readonly id: string; readonly status: string }>
}
const happened = async (client: LiveClient, event: string) =>
  (await client.take({ type: "event", event })).data
const statusOf = async (service: TestService, token: string, id: string) => {
  const { body } = await service.call("GET", "/account/sessions", { token })
  return body.find((session: { id: string }) => session.id === id)?.status as string
}
const disable = async (service: TestService, token: string) =>
  (await service.call("POST", "/account/2fa/disable", { token, body: { disable_all: true } })).status

describe("the live channel `session`", () => {
  it("reports that a session is Stale when the grace period of its code ends, and Verified after a new code", async () => {
    const { refresh, sessionId, token } = await register(short)
    const { client, state } = await listen(short, token)
    expect(state).toMatchObject([{ id: sessionId, status: "Verified" }])
    const { secret } = await turnOnTotp(short, token)

    expect(await happened(client, "session.two_factor_stale")).toEqual({ session_id: sessionId })
    expect(await stateNow(short, token)).toMatchObject([{ id: sessionId, status: "Stale" }])
    expect(await statusOf(short, token, sessionId)).toBe("Stale")
    expect(await disable(short, token)).toBe(424)

    const body = { refresh_token: refresh, code: totpCode(secret) }
    expect((await short.call("POST", "/auth/2fa", { body })).status).toBe(200)
    expect(await happened(client, "session.verified")).toEqual({ session_id: sessionId })
    // The grace period of the new code ends too.
    expect(await happened(client, "session.two_factor_stale")).toEqual({ session_id: sessionId })
    client.close()
  })

  it("reports the other sessions of a user as Stale when two-factor authentication is enabled, and as Verified when it is disabled", async () => {
    const first = await register(long)
    const other = (await login(long, first.email)).body
    const { client, state } = await listen(long, first.token)
    const otherId = state.find(({ id }: { id: string }) => id !== first.sessionId).id
    await turnOnTotp(long, first.token)
    expect(await happened(client, "session.two_factor_stale")).toEqual({ session_id: otherId })
    expect(await disable(long, other.access_token)).toBe(424)
    expect(await statusOf(long, first.token, first.sessionId)).toBe("Verified")

    expect(await disable(long, first.token)).toBe(200)
    expect(await happened(client, "session.verified")).toEqual({ session_id: otherId })
    client.close()
  })
})

describe("a Stale session", () => {
  it("is stored in a form that release 0.2 reads as Verified", async () => {
    const first = await register(long)
    const other = (await login(long, first.email)).body
    await turnOnTotp(long, first.token)
    const rows = await long.sql`select status, state->>'value' as value from entity
                                 where kind = 'session' and owner_id = ${first.id} and status = 'Stale'`
    expect(rows).toEqual([{ status: "Stale", value: "Verified" }])
    const refreshed = await long.call("POST", "/auth/token/refresh", {
      body: { refresh_token: other.refresh_token },
    })
    expect(refreshed.status).toBe(200)
    expect(await disable(long, refreshed.body.access_token)).toBe(424)
  })

  it("is Verified if release 0.2 has verified a code in it", async () => {
    const first = await register(long)
    const other = (await login(long, first.email)).body
    await turnOnTotp(long, first.token)
    expect(await disable(long, other.access_token)).toBe(424)
    await long.sql`
      update entity set status = 'Verified', version = version + 1,
             state = jsonb_set(state, '{context,verifiedAt}', to_jsonb(extract(epoch from now()) * 1000))
       where kind = 'session' and owner_id = ${first.id} and status = 'Stale'`
    expect(await disable(long, other.access_token)).toBe(200)
  })
})

describe("sessions that exist when the new release starts", () => {
  const migration = readFileSync(join(import.meta.dirname, "../../../schema/sql/0018_accounts.sql"), "utf8")
  const updates = migration.slice(migration.indexOf("update entity"))
  /** Changes the sessions of a user to what release 0.2 stored: no deadline before the expiry, and no `Stale`. */
  const asBefore = (userId: string) => long.sql`
    update entity set status = 'Verified', due_at = now() + interval '1 day', version = version + 1,
           state = state #- '{context,stale}'
     where kind = 'session' and owner_id = ${userId}`

  it("become Stale if their grace period has ended, or if they never verified a code", async () => {
    const first = await register(long)
    await login(long, first.email)
    await turnOnTotp(long, first.token)
    const without = await register(long)
    await asBefore(first.id)
    const [never] = await long.sql<[{ id: string }]>`
      select id from entity where kind = 'session' and owner_id = ${first.id} and id <> ${first.sessionId}`
    await long.sql`update entity set state = jsonb_set(state, '{context,verifiedAt}', '1'), version = version + 1
                    where kind = 'session' and id = ${first.sessionId}`
    await long.sql.unsafe(updates)
    const statuses = async () =>
      Promise.all([first.sessionId, never.id].map((id) => statusOf(long, first.token, id)))
    await expect.poll(statuses).toEqual(["Stale", "Stale"])
    expect(await statusOf(long, without.token, without.sessionId)).toBe("Verified")
  })

  it("stay Verified during their grace period, and get its end as their deadline", async () => {
    const { id, sessionId, token } = await register(long)
    await turnOnTotp(long, token)
    await asBefore(id)
    await long.sql.unsafe(updates)
    const isDueAtTheEnd = async () =>
      (
        await long.sql`select 1 from entity where kind = 'session' and id = ${sessionId}
           and abs(extract(epoch from due_at) * 1000 - (state#>>'{context,verifiedAt}')::float8 - 900000) < 1`
      ).length
    await expect.poll(isDueAtTheEnd).toBe(1)
    expect(await statusOf(long, token, sessionId)).toBe("Verified")
  })

  it("become Stale at their next refresh if release 0.2 stored them after the migration", async () => {
    const { id, refresh, sessionId, token } = await register(long)
    await turnOnTotp(long, token)
    await asBefore(id)
    await endGrace(long, id)
    await long.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
    await expect.poll(() => statusOf(long, token, sessionId)).toBe("Stale")
  })
})
