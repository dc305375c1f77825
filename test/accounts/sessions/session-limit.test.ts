import { expect, it } from "vitest"
import { closeCodes } from "../../../schema/live-frames.ts"
import { BrowserSessions } from "../../../src/accounts/sessions/browser-sessions.ts"
import { liveSocket } from "../../fixtures/live-client.ts"
import { serve } from "../../fixtures/service.ts"
import { claimsOf, login, register, turnOnTotp } from "../person.ts"

/** A user has at most 200 open sessions. The next login ends the oldest session. */
const one = await serve({}, { peersPossible: true })
const two = await serve({}, { peersPossible: true, database: one.database })

const works = async (token: string) =>
  (await two.call("PATCH", "/account", { token, body: {} })).status === 200

const copy = (sessionId: string, times: number) =>
  one.sql`insert into entity (kind, id, version, turn, status, state, owner_id)
          select 'session', gen_random_uuid(), 1, gen_random_uuid(), e.status, e.state, e.owner_id
            from entity e, generate_series(1, ${times}::int) where e.id = ${sessionId}`

it("a login above the session limit ends the oldest session and closes its WebSocket connection", async () => {
  const person = await register(one)
  await copy(person.sessionId, 199)
  await one.sql`update entity set updated_at = now() - interval '1 minute' where id = ${person.sessionId}`
  expect(await works(person.token)).toBe(true)
  const socket = await liveSocket(two.url)()
  socket.send({ type: "connect", token: person.token })
  socket.send({ type: "subscribe", channel: "session" })
  await socket.take({ type: "subscribed" })

  const newest = await login(one, person.email)
  expect(newest.status).toBe(200)
  expect(await works(person.token)).toBe(false)
  expect(await works(newest.body.access_token)).toBe(true)
  expect(await socket.take({ event: "session.logged_out" })).toMatchObject({
    data: { session_id: claimsOf(person.token).sid, reason: "too_many_sessions" },
  })
  expect((await socket.closing).code).toBe(closeCodes.sessionEnded)
})

it("web pages reject a session that the session limit ended, even a day later", async () => {
  const alone = await serve({}, { database: one.database })
  const person = await register(alone)
  const find = () =>
    alone.runtime.runPromise(BrowserSessions.use((sessions) => sessions.find(person.refresh)))
  expect(await find()).toMatchObject({ sessionId: person.sessionId })
  await copy(person.sessionId, 199)
  await one.sql`update entity set updated_at = now() - interval '1 minute' where id = ${person.sessionId}`
  expect((await login(alone, person.email)).status).toBe(200)
  await one.sql`update entity set updated_at = now() - interval '1 day' where id = ${person.sessionId}`
  expect(await find()).toBeUndefined()
})

it("logins that wait for a two-factor code do not end verified sessions", async () => {
  const person = await register(one)
  await turnOnTotp(one, person.token)
  await one.sql`update entity set updated_at = now() - interval '1 minute' where id = ${person.sessionId}`
  const { body: pending } = await login(one, person.email)
  expect(pending.requires_2fa).toBe("AuthenticatorApp")
  await copy(claimsOf(pending.access_token).sid, 199)

  expect((await login(one, person.email)).status).toBe(200)
  expect(await works(person.token)).toBe(true)
  const [open] = await one.sql`select count(*)::int as pending from entity
                                where kind = 'session' and owner_id = ${person.id} and status = 'Pending'`
  expect(open).toEqual({ pending: 200 })
})
