import { randomUUID } from "node:crypto"
import { afterEach, beforeAll, expect, it } from "vitest"
import { register } from "../accounts/person.ts"
import { proxyTo } from "../fixtures/servers/database-proxy.ts"
import { type Answer, serve } from "../fixtures/service.ts"
import { freshId } from "../orders/shopper.ts"
import { tokenCall } from "../sign-in/oauth/application.ts"
import { startOauthService } from "../sign-in/oauth/oauth-service.ts"

const { app, codeFor, credentials, exchange, service } = await startOauthService()
const proxy = await proxyTo(service.database)
const maxWaitMs = 1000

let delayed: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  delayed = await serve({}, { database: proxy.address, maxWaitMs })
})
afterEach(() => proxy.release())

/**
 * Sends a request whose statement is held back on its way to the database. Runs `meanwhile`, and lets the statement pass
 * when the request has waited too long.
 */
const delaying = async (
  statement: string,
  send: () => Promise<Answer>,
  meanwhile: () => Promise<void>,
): Promise<Answer> => {
  proxy.stallAt(statement)
  let isAnswered = false
  const answer = send().finally(() => {
    isAnswered = true
  })
  await expect.poll(() => proxy.isStalled() || isAnswered).toBe(true)
  // On a busy machine the request can have been discarded before its statement was sent.
  if (!proxy.isStalled()) return delaying(statement, send, meanwhile)
  const lateAt = performance.now() + maxWaitMs
  await meanwhile()
  await expect.poll(() => performance.now() > lateAt).toBe(true)
  proxy.release()
  return answer
}

const refresh = ({ call }: Pick<typeof service, "call">, refresh_token: string, key?: string) =>
  call("POST", "/auth/token/refresh", {
    body: { refresh_token },
    ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
  })

it.each([
  ["refresh", undefined],
  ["refresh with an Idempotency-Key", "delayed"],
])("a delayed %s does not end the session that its client has continued", async (_, key) => {
  // The proxy finds a statement by its text, and a connection sends this text only the first time.
  delayed = await serve({}, { database: proxy.address, maxWaitMs })
  const person = await register(service)
  let last = person.refresh
  const answer = await delaying(
    "commit_batch",
    () => refresh(delayed, person.refresh, key),
    async () => {
      for (let i = 0; i < 2; i++) last = (await refresh(service, last)).body.refresh_token
    },
  )
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
  const [session] = await service.sql`select status from entity where id = ${person.sessionId}`
  expect(session).toEqual({ status: "Verified" })
  expect((await refresh(service, last)).status).toBe(200)
})

const lists = async (token: string) => (await service.call("GET", "/emoji_id", { token })).status
const refreshForm = (refresh_token: string) => ({
  grant_type: "refresh_token",
  refresh_token,
  ...credentials,
})

it("a delayed refresh of an application does not revoke the grant that it has continued", async () => {
  const first = (await exchange((await codeFor()).code)).body
  let last = first
  const answer = await delaying(
    "continue_grant",
    () => tokenCall(delayed, refreshForm(first.refresh_token)),
    async () => {
      for (let i = 0; i < 2; i++) last = (await tokenCall(service, refreshForm(last.refresh_token))).body
    },
  )
  expect(answer.status).toBe(503)
  expect(await lists(last.access_token)).toBe(200)
  expect((await tokenCall(service, refreshForm(last.refresh_token))).status).toBe(200)
})

it("a delayed exchange of a code does not revoke the grant of its repetition", async () => {
  const { code } = await codeFor()
  let token = ""
  const answer = await delaying(
    "exchange_code",
    () =>
      tokenCall(delayed, {
        grant_type: "authorization_code",
        code,
        redirect_uri: app.redirectUri,
        ...credentials,
      }),
    async () => {
      token = (await exchange(code)).body.access_token
    },
  )
  expect(answer.status).toBe(503)
  expect(await lists(token)).toBe(200)
})

it("a delayed request with an Idempotency-Key changes nothing, and its retry runs at once", async () => {
  delayed = await serve({}, { database: proxy.address, maxWaitMs })
  const user = await service.user()
  const request = {
    token: user.token,
    body: { emoji_id: freshId() },
    headers: { "idempotency-key": randomUUID() },
  }
  const answer = await delaying(
    "begin_operation",
    () => delayed.call("POST", "/user_interests", request),
    async () => {},
  )
  expect(answer.status).toBe(503)
  expect(await service.sql`select 1 from user_interest where user_id = ${user.id}`).toEqual([])
  expect((await service.call("POST", "/user_interests", request)).status).toBe(200)
})
