import { describe, expect, it } from "vitest"
import { register } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"
import { tokenCall } from "../../sign-in/oauth/application.ts"
import { startOauthService } from "../../sign-in/oauth/oauth-service.ts"

// The service runs as one of several processes, so that it notices changes that the tests make directly in the
// database.
const service = await serve({}, { peersPossible: true })
const oauth = await startOauthService()

describe("the previous refresh token of a session", () => {
  const refresh = (refresh_token: string) =>
    service.call("POST", "/auth/token/refresh", { body: { refresh_token } })
  /** Registers a user and refreshes the tokens once, `seconds` ago. */
  const rotatedAgo = async (seconds: number) => {
    const person = await register(service)
    const next = (await refresh(person.refresh)).body.refresh_token as string
    await service.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}',
      to_jsonb((state->'context'->>'rotatedAt')::float8 - ${seconds * 1000}::float8))
      where kind = 'session' and id = ${person.sessionId}`
    return { previous: person.refresh, next }
  }

  it("gets the same new token 50 seconds after the refresh, because the response may have been lost", async () => {
    const { next, previous } = await rotatedAgo(50)
    const again = await refresh(previous)
    expect([again.status, again.body.refresh_token]).toEqual([200, next])
  })

  it("revokes the session 61 seconds after the refresh", async () => {
    const { next, previous } = await rotatedAgo(61)
    expect((await refresh(previous)).status).toBe(401)
    expect((await refresh(next)).status).toBe(401)
  })

  it("revokes the session as soon as the new token was used", async () => {
    const { next, previous } = await rotatedAgo(0)
    const third = (await refresh(next)).body.refresh_token
    expect((await refresh(previous)).status).toBe(401)
    expect((await refresh(third)).status).toBe(401)
  })
})

describe("the previous refresh token of an OAuth grant", () => {
  const refresh = (refresh_token: string) =>
    tokenCall(oauth.service, { grant_type: "refresh_token", refresh_token, ...oauth.credentials })
  const rotatedAgo = async (seconds: number) => {
    const { code, user } = await oauth.codeFor()
    const previous = (await oauth.exchange(code)).body.refresh_token as string
    const next = (await refresh(previous)).body.refresh_token as string
    await oauth.service
      .sql`update oauth_grant set rotated_at = now() - make_interval(secs => ${seconds}) where user_id = ${user.id}`
    return { previous, next }
  }

  it("gets new tokens 50 seconds after the refresh, and the tokens of the refresh still work", async () => {
    const { next, previous } = await rotatedAgo(50)
    expect((await refresh(previous)).status).toBe(200)
    expect((await refresh(next)).status).toBe(200)
  })

  it("revokes the grant 61 seconds after the refresh", async () => {
    const { next, previous } = await rotatedAgo(61)
    expect((await refresh(previous)).status).toBe(400)
    expect((await refresh(next)).status).toBe(400)
  })

  it("revokes the grant as soon as the new token was used", async () => {
    const { next, previous } = await rotatedAgo(0)
    const third = (await refresh(next)).body.refresh_token
    expect((await refresh(previous)).status).toBe(400)
    expect((await refresh(third)).status).toBe(400)
  })
})
