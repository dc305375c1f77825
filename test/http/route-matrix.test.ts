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
 * Every row against every kind of caller. What a row says about itself decides: its scheme and its scope. Requests carry
 * placeholders, so an admitted one may end in any answer of its handler; what counts is whether it was admitted.
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

// A login whose second factor was never proven in this session.
const stale = await service.user({ role: "Admin" })
await service.sql`insert into two_factor (user_id, provider, confirmed_at) values (${stale.id}, 'AuthenticatorApp', now())`

const named = (rows: ReadonlyArray<Route>) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)
const guarded = routes.filter((row) => row.auth !== "none" && row.auth !== "optional")
const open = routes.filter((row) => row.auth === "none")
const scoped = guarded.filter((row) => row.scope !== undefined)
/** Ending one's own sessions or account would change the caller in the middle of the matrix. */
const endsCaller = new Set(["logout"])

describe.concurrent.each(named(guarded))("%s", (_name, row) => {
  it("is 401 to nobody, to a forged token and to a key that is none", async () => {
    expect((await send(row, {})).status).toBe(401)
    expect((await send(row, { token: forgedToken })).status).toBe(401)
    expect((await send(row, { headers: { "x-api-key": "svc_a_b" } })).status).toBe(401)
  })

  it("is 401 to a login that waits for its code, and to a token made for something else", async () => {
    for (const token of otherKinds) expect((await send(row, { token })).status).toBe(401)
  })

  it("is 401 to who is deactivated, deleted or logged out, and to keys that no longer count", async () => {
    for (const { token } of Object.values(noLonger)) expect((await send(row, { token })).status).toBe(401)
    for (const { headers } of [keyOfDeactivated, keyThatEnded]) {
      expect((await send(row, { headers })).status).toBe(401)
    }
  })

  it(`${row.oauth ? "is open to" : "is 403 to"} a token of the authorization-code flow`, async () => {
    const { status } = await send(row, { token: oauthToken })
    if (row.oauth) expect([401, 403]).not.toContain(status)
    else expect([401, 403]).toContain(status)
  })

  it("never answers 5xx to a placeholder", async () => {
    if (endsCaller.has(row.id)) return
    expect((await send(row, { token: admin.token })).status).toBeLessThan(500)
    expect((await send(row, { token: user.token })).status).toBeLessThan(500)
  })
})

describe.concurrent.each(named(scoped))("%s by its scope", (_name, row) => {
  const scope = row.scope!

  it(`${roleScopes.User.has(scope) ? "admits" : "refuses"} a user`, async () => {
    if (endsCaller.has(row.id)) return
    const { body, status } = await send(row, { token: user.token })
    if (roleScopes.User.has(scope)) expect(body?.scope).not.toBe(scope)
    else {
      expect(status).toBe(403)
      expect(body.scope).toBe(scope)
    }
  })

  it("admits an administrator", async () => {
    if (endsCaller.has(row.id)) return
    const { body, status } = await send(row, { token: admin.token })
    expect(status).not.toBe(401)
    expect(body?.scope).not.toBe(scope)
  })

  it("refuses an API key without the scope, though its owner has it, and admits one with it", async () => {
    const refused = await send(row, bareKey)
    if (row.auth === "two_factor") return expect(refused.status).toBe(401)
    expect(refused.status).toBe(403)
    expect(refused.body.scope).toBe(scope)
    const { body, status } = await send(row, await apiKey([scope]))
    expect(status).not.toBe(401)
    expect(body?.scope).not.toBe(scope)
  })

  it("refuses an API key that lists a scope its owner does not have", async () => {
    if (roleScopes.User.has(scope) || row.auth === "two_factor") return
    expect((await send(row, await apiKey([scope], user.id))).status).toBe(403)
  })
})

describe.concurrent("the sensitive rows", () => {
  it.each(named(guarded.filter((row) => row.sensitive)))("%s wants a fresh code", async (_name, row) => {
    const { status } = await send(row, { token: stale.token })
    // A body or parameter that cannot be read is told before a code is asked for.
    expect(row.body === undefined && row.params === undefined ? [424] : [424, 400]).toContain(status)
  })

  it("are all that can take an account or an id away", () => {
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

describe.concurrent("the open rows", () => {
  it.each(named(open))("%s does not want a login", async (_name, row) => {
    expect((await send(row, {})).status).not.toBe(401)
  })
})

describe.concurrent("the rows that read what a thing is or has", () => {
  /** What an id is can be told of one that nobody has. */
  const ofThings = guarded.filter(({ method, path }) => method === "get" && /:(?!emoji_id)/.test(path))

  it.each(named(ofThings))("%s is 404 where there is no such thing", async (_name, row) => {
    expect((await send(row, { token: admin.token })).status).toBe(404)
  })
})
