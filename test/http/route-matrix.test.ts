import { randomUUID } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Role, roleScopes } from "../../schema/accounts/scope.ts"
import { makeApiKey } from "../../src/accounts/api-keys/secrets.ts"
import { type TokenKind, Tokens } from "../../src/accounts/sessions/tokens.ts"
import type { Route } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { type CallOptions, serve } from "../fixtures/service.ts"

/**
 * These tests call every route as every kind of caller. The expected result follows from the authentication scheme
 * and the scope of the route. The requests contain sample values, so an admitted request may get any response of
 * its handler. Most tests check only whether the request was admitted.
 */

const service = await serve()
const admin = await service.user({ role: "Admin" })
const user = await service.user()

const sign = (kind: TokenKind, userId: string, role: Role) =>
  service.runtime.runPromise(
    Effect.flatMap(Tokens, (tokens) =>
      tokens.sign(
        { sub: userId, sid: randomUUID(), ep: 0, role, ext: { emoji_id: "🌊", client_id: "app" } },
        { kind, ttlSeconds: 300 },
      ),
    ),
  )
const oauthToken = await sign("oauth-access", user.id, "User")
const otherKinds = await Promise.all(
  (["pending", "oauth-code", "oauth-refresh", "partner"] as const).map((kind) =>
    sign(kind, admin.id, "Admin"),
  ),
)
const forgedToken = `${user.token.slice(0, -4)}AAAA`

const apiKey = async (scopes: ReadonlyArray<string>, userId = admin.id) => {
  const key = await Effect.runPromise(makeApiKey)
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes)
                    values (${key.id}, ${userId}, 'matrix', ${key.hash}, ${scopes as string[]})`
  return { hash: key.hash, headers: { "x-api-key": key.text } }
}
const bareKey = await apiKey([])

const zero = "00000000-0000-4000-8000-000000000000"
const send = (row: Route, options: CallOptions) => {
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    /emoji_id|eid/.test(name) ? "%F0%9F%8C%8A" : zero,
  )
  return service.call(row.method === "del" ? "DELETE" : row.method.toUpperCase(), path, {
    ...options,
    ...(row.method === "get"
      ? {}
      : { rawBody: "{}", headers: { "content-type": "application/json", ...options.headers } }),
  })
}

const noLonger = {
  deactivated: await service.user({ role: "Admin" }),
  deleted: await service.user({ role: "Admin" }),
  "logged out": await service.user({ role: "Admin" }),
}
const everyScope = [...roleScopes.Admin]
const keyOfDeactivated = await apiKey(everyScope, noLonger.deactivated.id)
await service.sql`update app_user set deactivated_at = now() where id = ${noLonger.deactivated.id}`
await service.sql`update app_user set deleted_at = now() where id = ${noLonger.deleted.id}`
await service.sql`update app_user set token_epoch = 1 where id = ${noLonger["logged out"].id}`
const keyThatEnded = await apiKey(everyScope)
await service.sql`update api_key set expires_at = now() where secret_hash = ${keyThatEnded.hash}`

// This user has two-factor authentication, but has entered no code in this session.
const stale = await service.user({ role: "Admin" })
await service.sql`insert into two_factor (user_id, provider, confirmed_at) values (${stale.id}, 'AuthenticatorApp', now())`

const named = (rows: ReadonlyArray<Route>) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)
const guarded = routes.filter((row) => row.auth !== "none" && row.auth !== "optional")
const open = routes.filter((row) => row.auth === "none")
const scoped = guarded.filter((row) => row.scope !== undefined)
/**
 * Operations that are not called with the access tokens of `user` and `admin`, because they would end these tokens,
 * which other tests need.
 */
const endsCaller = new Set(["logout"])

describe.concurrent.each(named(guarded))("%s", (_name, row) => {
  it("returns 401 without credentials, with a forged token and with an unknown API key", async () => {
    expect((await send(row, {})).status).toBe(401)
    expect((await send(row, { token: forgedToken })).status).toBe(401)
    expect((await send(row, { headers: { "x-api-key": "svc_a_b" } })).status).toBe(401)
  })

  it("returns 401 for a token of another kind: a pending login, an OAuth code, an OAuth refresh token or a partner token", async () => {
    for (const token of otherKinds) expect((await send(row, { token })).status).toBe(401)
  })

  it("returns 401 to deactivated, deleted and logged-out users, and for expired API keys", async () => {
    for (const { token } of Object.values(noLonger)) expect((await send(row, { token })).status).toBe(401)
    for (const { headers } of [keyOfDeactivated, keyThatEnded]) {
      expect((await send(row, { headers })).status).toBe(401)
    }
  })

  it(`${row.oauth ? "admits" : "rejects"} an access token of the OAuth authorization-code flow`, async () => {
    const { status } = await send(row, { token: oauthToken })
    if (row.oauth) expect([401, 403]).not.toContain(status)
    else expect([401, 403]).toContain(status)
  })

  it("never returns a server error (5xx) for a request with sample values", async () => {
    if (endsCaller.has(row.id)) return
    expect((await send(row, { token: admin.token })).status).toBeLessThan(500)
    expect((await send(row, { token: user.token })).status).toBeLessThan(500)
  })
})

describe.concurrent.each(named(scoped))("%s, which requires a scope,", (_name, row) => {
  const scope = row.scope!

  it(`${roleScopes.User.has(scope) ? "admits" : "rejects"} a caller whose role is \`User\``, async () => {
    if (endsCaller.has(row.id)) return
    const { body, status } = await send(row, { token: user.token })
    if (roleScopes.User.has(scope)) expect(body?.scope).not.toBe(scope)
    else {
      expect(status).toBe(403)
      expect(body.scope).toBe(scope)
    }
  })

  it("admits a caller whose role is `Admin`", async () => {
    if (endsCaller.has(row.id)) return
    const { body, status } = await send(row, { token: admin.token })
    expect(status).not.toBe(401)
    expect(body?.scope).not.toBe(scope)
  })

  it("rejects an API key without the scope, and admits a key with the scope unless only login tokens are accepted", async () => {
    const refused = await send(row, bareKey)
    if (row.auth === "two_factor") return expect(refused.status).toBe(401)
    expect(refused.status).toBe(403)
    expect(refused.body.scope).toBe(scope)
    const { body, status } = await send(row, await apiKey([scope]))
    expect(status).not.toBe(401)
    expect(body?.scope).not.toBe(scope)
  })

  it("rejects an API key that lists the scope if the owner of the key does not have the scope", async () => {
    if (roleScopes.User.has(scope) || row.auth === "two_factor") return
    expect((await send(row, await apiKey([scope], user.id))).status).toBe(403)
  })
})

describe.concurrent("the sensitive routes", () => {
  it.each(named(guarded.filter((row) => row.sensitive)))(
    "include %s, which requires a recent two-factor code",
    async (_name, row) => {
      const { status } = await send(row, { token: stale.token })
      // The sample may be an invalid body or parameter. This error is reported before the missing code.
      expect(row.body === undefined && row.params === undefined ? [424] : [424, 400]).toContain(status)
    },
  )

  it("include the operations with which an attacker could take over an account or an id", () => {
    const paths = guarded.filter((row) => row.sensitive).map((row) => `${row.method} ${row.path}`)
    expect(paths).toEqual(
      expect.arrayContaining([
        "post /transfers",
        "post /transfers/:transfer_id/sender_accept",
        "post /transfers/:transfer_id/receiver_accept",
        "post /emoji_id/:emoji_id/generate_signature",
        "post /cart/checkout",
        "post /cart/checkout/:id",
        "post /api_keys",
        "post /account/2fa",
        "post /account/2fa/enable",
        "post /account/2fa/disable",
        "post /pubkeys/:pubkey",
        "post /users/:user_id/pubkeys/:pubkey",
        "patch /users/:id",
        "del /users/:id",
      ]),
    )
  })
})

describe.concurrent("the public routes", () => {
  it.each(named(open))("include %s, which does not require a login", async (_name, row) => {
    expect((await send(row, {})).status).not.toBe(401)
  })
})

describe.concurrent("the routes that read one resource by its id", () => {
  /**
   * The routes that read one resource by its id. Routes of an emoji id are excluded, because they also describe an id
   * that is not registered.
   */
  const ofThings = guarded.filter(({ method, path }) => method === "get" && /:(?!emoji_id)/.test(path))

  it.each(named(ofThings))("include %s, which returns 404 for an unknown resource", async (_name, row) => {
    expect((await send(row, { token: admin.token })).status).toBe(404)
  })
})
