import { expect, it } from "vitest"
import { proxyTo } from "../../fixtures/servers/database-proxy.ts"
import { serve } from "../../fixtures/service.ts"
import { tokenCall } from "./application.ts"
import { openOauthWorld } from "./oauth-service.ts"

const { app, codeFor, credentials, exchange, service } = await openOauthWorld()
const proxy = await proxyTo(service.database)

/** Another process, that is never told by the database what came of this statement. */
const deafTo = async (statement: string) => {
  const other = await serve({}, { database: proxy.address })
  const lists = async (token: string) => (await other.call("GET", "/emoji_id", { token })).status
  const ask = async (form: Record<string, string>) => {
    const again = setInterval(() => proxy.loseAnswerTo(statement), 1)
    const { status } = await tokenCall(other, { ...form, ...credentials })
    clearInterval(again)
    proxy.heal()
    return status
  }
  return { lists, ask }
}

it("what a code gave opens nothing more once the code was used twice, also when nobody heard of that", async () => {
  const { ask, lists } = await deafTo("redeem_code")
  const { code } = await codeFor()
  const token = (await exchange(code)).body.access_token
  expect(await lists(token)).toBe(200)
  expect(await ask({ grant_type: "authorization_code", code, redirect_uri: app.redirectUri })).toBe(503)
  expect(await lists(token)).toBe(401)
})

it("nor does it once a refresh token was used twice", async () => {
  const { ask, lists } = await deafTo("rotate_grant")
  const first = (await exchange((await codeFor()).code)).body
  let last = first
  for (let i = 0; i < 2; i++) {
    const form = { grant_type: "refresh_token", refresh_token: last.refresh_token, ...credentials }
    last = (await tokenCall(service, form)).body
  }
  expect(await lists(last.access_token)).toBe(200)
  expect(await ask({ grant_type: "refresh_token", refresh_token: first.refresh_token })).toBe(503)
  expect(await lists(last.access_token)).toBe(401)
})
