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
 * These tests call every route with credentials that are missing, invalid or of another kind, and with sample values.
 * test/security/roles/role-matrix.test.ts checks what valid callers of each role may do.
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
const fullKey = await apiKey(everyScope)
const keyThatEnded = await apiKey(everyScope)
await service.sql`update api_key set expires_at = now() where secret_hash = ${keyThatEnded.hash}`

const named = (rows: ReadonlyArray<Route>) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)
const guarded = routes.filter((row) => row.auth !== "none" && row.auth !== "optional")
const open = routes.filter((row) => row.auth === "none")
const scoped = guarded.filter((row) => row.scope !== undefined && row.auth !== "two_factor")
/** Operations that end the caller's sessions. They are called as new users, because later requests need the others. */
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

  it("never returns a server error (5xx) for a request with sample values", async () => {
    const ends = endsCaller.has(row.id)
    const callers = ends ? [await service.user({ role: "Admin" }), await service.user()] : [admin, user]
    for (const { token } of callers) expect((await send(row, { token })).status).toBeLessThan(500)
  })
})

describe.concurrent.each(named(scoped))("%s, which requires a scope,", (_name, row) => {
  it("returns 403 with the name of the scope to an API key that does not have it", async () => {
    const { body, status } = await send(row, bareKey)
    expect([status, body.scope]).toEqual([403, row.scope])
  })
})

describe.concurrent.each(named(guarded.filter(({ auth }) => auth === "two_factor")))(
  "%s, which requires a login session,",
  (_name, row) => {
    it("returns 401 to an API key with all scopes", async () => {
      expect((await send(row, fullKey)).status).toBe(401)
    })
  },
)

describe.concurrent("the sensitive routes", () => {
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
