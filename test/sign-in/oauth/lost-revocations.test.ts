import { expect, it } from "vitest"
import { proxyTo } from "../../fixtures/servers/database-proxy.ts"
import { serve } from "../../fixtures/service.ts"
import { tokenCall } from "./application.ts"
import { startOauthService } from "./oauth-service.ts"

const { app, codeFor, credentials, exchange, service } = await startOauthService()
const proxy = await proxyTo(service.database)

/** Starts a second service, which does not receive the database's responses to this statement. */
const serveWithLostAnswers = async (statement: string) => {
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

it("a second use of a code revokes the code's tokens, even if the database's response is lost", async () => {
  const { ask, lists } = await serveWithLostAnswers("update oauth_grant")
  const { code } = await codeFor()
  const token = (await exchange(code)).body.access_token
  expect(await lists(token)).toBe(200)
  expect(await ask({ grant_type: "authorization_code", code, redirect_uri: app.redirectUri })).toBe(503)
  expect(await lists(token)).toBe(401)
})

it("a second use of an old refresh token revokes the newest tokens, even if the database's response is lost", async () => {
  const { ask, lists } = await serveWithLostAnswers("update oauth_grant")
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
