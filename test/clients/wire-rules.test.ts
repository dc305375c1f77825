import { generateKeyPairSync, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { roleScopes } from "../../schema/accounts/scope.ts"
import { makeApiKey } from "../../src/accounts/api-keys/secrets.ts"
import { Tokens } from "../../src/accounts/sessions/tokens.ts"
import type { Route } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { takesKeys } from "../fixtures/access-table.ts"
import { type SentRequest, sendAsWritten } from "../fixtures/http-request.ts"
import { exchange } from "../fixtures/raw-http.ts"
import { serve } from "../fixtures/service.ts"
import { grant } from "../transfers/transfer-service.ts"

/**
 * Existing wallets, shops and partners send requests in forms that a careful client would not. These tests send them to
 * every operation of the route table. Each must get the same answer as the usual form.
 */

const service = await serve()
const port = Number(new URL(service.url).port)
const admin = await service.user({ role: "Super" })
const owner = await service.user()
const id = "✍️🐶"
await grant(service, owner, id)
const edited = await service.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
  token: owner.token,
  body: {
    insert: [
      { tag: "0x1003", data: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" },
      { tag: "0x1004", data: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" },
      { tag: "0x4001", data: "https://example.com" },
    ],
  },
})
if (edited.status !== 200) throw new Error(edited.text)

const keyOf = async (userId: string) => {
  const key = await Effect.runPromise(makeApiKey)
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes, sensitive)
                    values (${key.id}, ${userId}, 'a shop', ${key.hash}, ${[...roleScopes.Super]}, true)`
  return key.text
}
const apiKey = await keyOf(admin.id)
const expired = await service.runtime.runPromise(
  Tokens.use((tokens) =>
    tokens.sign(
      { sub: owner.id, sid: randomUUID(), ep: 0, role: "User" },
      { kind: "access", ttlSeconds: -3600 },
    ),
  ),
)
/** A token of another service: signed with its own key. */
const foreign = [{ alg: "RS256", typ: "JWT" }, { sub: "someone", iss: "https://other.example" }, "signature"]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .join(".")

const zero = "00000000-0000-4000-8000-000000000000"
/** A valid Ed25519 public key that no user has. */
const newPubkey = () =>
  generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex")
const methodOf = ({ method }: Route) => (method === "del" ? "DELETE" : method.toUpperCase())
const filled = ({ path }: Route, emojiId = encodeURIComponent(id)) =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => {
    if (name === "emoji_id" || name === "eid") return emojiId
    if (name === "tag") return "BTC"
    if (name === "pubkey") return newPubkey()
    if (name === "key") return "VisualizerName"
    return name === "token_id" ? "1" : zero
  })
const queries: Readonly<Record<string, string>> = {
  searchEmojiID: `emoji_id=${encodeURIComponent(id)}`,
  loadJsonIndex: "keys=VisualizerName",
  confirmRecord: `tag=0x4001&data=${encodeURIComponent("https://example.com")}`,
  linkRedirect: `emoji_id=${encodeURIComponent(id)}`,
  devOutbox: "to=someone@example.com",
  walletChallenge: "source=0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
}
/** The path with the query parameters that the operation requires. */
const pathOf = (row: Route, emojiId?: string) =>
  queries[row.id] === undefined ? filled(row, emojiId) : `${filled(row, emojiId)}?${queries[row.id]}`

const named = (rows: ReadonlyArray<Route>) =>
  rows.map((row) => [`${methodOf(row)} ${row.path}`, row] as const)
/** `GET /live` accepts only WebSocket connections. */
const answered = routes.filter(({ path }) => path !== "/live")
const reads = answered.filter(({ method }) => method === "get")
const isPublic = ({ auth }: Route) => auth === "none" || auth === "optional"
const bodyless = answered.filter((row) => row.method !== "get" && row.body === undefined && !row.rawBody)
const withBody = answered.filter((row) => row.method !== "get" && row.body !== undefined && !row.rawBody)

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const send = (request: SentRequest) => sendAsWritten(service.url, request)
const json = { "Content-Type": "application/json" }

/** Values that differ between two answers to the same request: ids, times, nonces and the number of views. */
const changing = /"value":\d+|[0-9a-f]{12}-[\w.]+|\d{4}-\d\d-\d\dT[\d:.]+Z|nonce-[\w+/=-]+|nonce="[^"]*"/g
const steady = (text: string) => text.replaceAll(changing, "…")

describe.each(named(reads))("%s", (_name, row) => {
  const usual = { method: "GET", path: pathOf(row), headers: bearer(admin.token) }

  it("ignores a Content-Type and a body of `null`", async () => {
    const { status } = await send(usual)
    const headers = { ...usual.headers, ...json }
    expect((await send({ ...usual, headers })).status).toBe(status)
    const withNull = { ...usual, headers: { ...headers, "Content-Length": "4" }, body: "null" }
    expect((await send(withNull)).status).toBe(status)
    expect(status).toBeLessThan(500)
  })

  it("answers the same whatever the client accepts", async () => {
    const { headers, status } = await send(usual)
    for (const Accept of [
      "*/*",
      "application/json",
      "application/json, text/plain, */*",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    ]) {
      const answer = await send({ ...usual, headers: { ...usual.headers, Accept } })
      expect([Accept, answer.status, answer.headers["content-type"]]).toEqual([
        Accept,
        status,
        headers["content-type"],
      ])
    }
  })

  it("answers HEAD with the status of GET and no body", async () => {
    const { headers, status } = await send(usual)
    const head = await send({ ...usual, method: "HEAD" })
    expect([head.status, head.text, head.headers["content-type"]]).toEqual([
      status,
      "",
      headers["content-type"],
    ])
  })

  it("answers the same with a slash at the end of the path", async () => {
    const { status, text } = await send(usual)
    const [path, query] = usual.path.split("?")
    const slashed = await send({
      ...usual,
      path: `${path!.replace(/\/$/, "")}/${query === undefined ? "" : `?${query}`}`,
    })
    expect([slashed.status, slashed.text.slice(0, 15)]).toEqual([status, text.slice(0, 15)])
  })
})

it("A second slash after the root is another path, which does not exist", async () => {
  expect((await send({ method: "GET", path: "//", headers: {} })).status).toBe(404)
})

describe.each(named(answered))("the preflight of %s", (_name, row) => {
  it("is answered 204, and allows the method and the headers unless the operation is for our own pages", async () => {
    const { headers, status } = await send({
      method: "OPTIONS",
      path: filled(row),
      headers: {
        Origin: "https://wallet.example",
        "Access-Control-Request-Method": methodOf(row),
        "Access-Control-Request-Headers": "authorization,content-type,x-api-key,x-requested-with",
      },
    })
    expect(status).toBe(204)
    expect(headers["allow"]).toContain(methodOf(row))
    const isSameOrigin = routes.some(({ path, sameOrigin }) => path === row.path && sameOrigin)
    expect([headers["access-control-allow-origin"], headers["access-control-allow-methods"]]).toEqual(
      isSameOrigin ? [undefined, undefined] : ["*", expect.stringContaining(methodOf(row))],
    )
  })
})

describe.each(named(answered.filter(isPublic)))("%s, which is public,", (_name, row) => {
  it.each([
    ["an expired token", `Bearer ${expired}`],
    ["a token of another service", `Bearer ${foreign}`],
    ["an empty Bearer", "Bearer "],
    ["a text that is no token", "Bearer undefined"],
    ["Basic credentials", `Basic ${Buffer.from("user:password").toString("base64")}`],
    ["an unknown scheme", "Token abc"],
  ])("answers the same with %s in Authorization as without it", async (_what, authorization) => {
    const body = row.method === "get" ? null : "{}"
    const usual = { method: methodOf(row), path: pathOf(row), body, headers: body === null ? {} : json }
    const without = await send(usual)
    const stale = await send({ ...usual, headers: { ...usual.headers, Authorization: authorization } })
    // A 401 says whether the credentials are missing or not valid.
    const said = ({ status, text }: typeof stale) => (status === 401 ? "" : steady(text).slice(0, 200))
    expect([stale.status, said(stale)]).toEqual([without.status, said(without)])
    const withKey = await send({ ...usual, headers: { ...usual.headers, "X-Api-Key": "svc_unknown_key" } })
    expect(withKey.status).toBe(without.status)
  })
})

/** Operations that are forbidden to API keys answer the same 403 in every form. */
describe.each(named(reads.filter((row) => !isPublic(row) && takesKeys(row))))(
  "%s with an API key",
  (_name, row) => {
    it.each(["x-api-key", "X-API-KEY", "x-API-KEY", "X-Api-Key"])(
      "accepts the header name %s, also beside an Authorization that is not a valid Bearer",
      async (name) => {
        const { status } = await send({ method: "GET", path: pathOf(row), headers: bearer(admin.token) })
        for (const Authorization of [
          undefined,
          "Basic dXNlcjpwYXNzd29yZA==",
          `Bearer ${expired}`,
          "Bearer",
        ]) {
          const headers = { [name]: apiKey, ...(Authorization === undefined ? {} : { Authorization }) }
          const answer = await send({ method: "GET", path: pathOf(row), headers })
          expect([Authorization, answer.status]).toEqual([Authorization, status])
        }
      },
    )
  },
)

describe.each(named(bodyless))("%s, which has no body,", (_name, row) => {
  it("accepts no body, an empty body and the body `null`", async () => {
    const statuses: Array<number> = []
    for (const [headers, body] of [
      [{}, null],
      [{ "Content-Length": "0" }, null],
      [{ ...json, "Content-Length": "0" }, null],
      [{ ...json, "Content-Length": "4" }, "null"],
      [{ ...json, "Content-Length": "2" }, "{}"],
    ] as const) {
      // A new user for each request, because some operations end the sessions of the caller.
      const { token } = await service.user({ role: "Super" })
      const request = {
        method: methodOf(row),
        // The other tests need the registered id.
        path: filled(row, encodeURIComponent("🐶🐶🐶")),
        body,
        headers: { ...bearer(token), ...headers },
      }
      statuses.push((await send(request)).status)
    }
    expect(new Set(statuses).size).toBe(1)
    expect([400, 411, 413, 415]).not.toContain(statuses[0])
    expect(statuses[0]).toBeLessThan(500)
  })
})

describe.each(named(withBody))("%s, which has a body,", (_name, row) => {
  it("reads a body in chunks, with any Content-Type, as it reads one with a length", async () => {
    const usual = { method: methodOf(row), path: filled(row), body: "[]", headers: bearer(owner.token) }
    const sized = await send({ ...usual, headers: { ...usual.headers, ...json, "Content-Length": "2" } })
    for (const headers of [
      { ...json, "Transfer-Encoding": "chunked" },
      { "Content-Type": "application/json; charset=utf-8", "Transfer-Encoding": "chunked" },
      { "Content-Type": "text/plain", "Content-Length": "2" },
      { "Content-Length": "2" },
    ]) {
      const answer = await send({ ...usual, headers: { ...usual.headers, ...headers } })
      expect([answer.status, steady(answer.text)]).toEqual([sized.status, steady(sized.text)])
    }
    expect(sized.status).toBeLessThan(500)
  })
})

const byId = reads.filter(({ path }) => /:(emoji_id|eid)/.test(path))
describe.each(named(byId))("%s", (_name, row) => {
  const usual = { method: "GET", headers: bearer(owner.token) }
  const lower = (text: string) => encodeURIComponent(text).replaceAll(/%../g, (hex) => hex.toLowerCase())

  it.each([
    ["upper-case percent-encoding", encodeURIComponent(id)],
    ["lower-case percent-encoding", lower(id)],
    ["no variation selector", encodeURIComponent(id.replaceAll("\ufe0f", ""))],
    ["a skin tone", encodeURIComponent("✍🏽🐶")],
    ["a skin tone, in lower-case percent-encoding", lower("✍🏿🐶")],
    ["only a part percent-encoded", `${encodeURIComponent("✍️")}%f0%9f%90%b6`],
  ])("finds an id that is written with %s", async (_what, text) => {
    const { status, text: body } = await send({ ...usual, path: pathOf(row) })
    const answer = await send({ ...usual, path: pathOf(row, text) })
    expect([answer.status, steady(answer.text)]).toEqual([status, steady(body)])
  })

  it.each([id, "✍🐶", "✍🏽🐶"])("finds an id that is written as raw UTF-8: %s", async (text) => {
    const { status } = await send({ ...usual, path: pathOf(row) })
    const head = `Host: localhost\r\nAuthorization: Bearer ${owner.token}\r\n\r\n`
    const answer = await exchange(port, `GET ${pathOf(row, text)} HTTP/1.1\r\n${head}`)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  })
})

describe("a list in a query", () => {
  const tags = async (query: string) => {
    const { text } = await send({ method: "GET", path: `/emoji_id/${encodeURIComponent(id)}?${query}` })
    return (JSON.parse(text).result as ReadonlyArray<{ tag: string }>).map(({ tag }) => tag).sort()
  }
  it.each([
    "tags=0x1003,0x1004",
    "tags=0x1003%2C0x1004",
    "tags=0x1003%2C%200x1004",
    "tags=0x1003&tags=0x1004",
    "tags[]=0x1003&tags[]=0x1004",
    "tags%5B%5D=0x1003&tags%5B%5D=0x1004",
    "tags=0x1003&tags=0x1004,0x1004",
    "tags=0X1003,0x1004",
    "&tags=0x1003,0x1004&",
  ])("selects the records of both tags: ?%s", async (query) => {
    expect(await tags(query)).toEqual(["0x1003", "0x1004"])
  })

  it.each([
    "keys=VisualizerName,SvcPageData",
    "keys=VisualizerName&keys=SvcPageData",
    "keys[]=VisualizerName&keys[]=SvcPageData",
  ])("selects both store keys: ?%s", async (query) => {
    const answer = await send({ method: "GET", path: `/emoji_id/${encodeURIComponent(id)}/json?${query}` })
    expect(Object.keys(JSON.parse(answer.text)).sort()).toEqual(["SvcPageData", "VisualizerName"])
  })
})

describe("a connection", () => {
  it("gets 100 Continue before it sends a large body", async () => {
    const body = JSON.stringify({ data: "x".repeat(100_000) })
    const head = [
      `POST /emoji_id/${encodeURIComponent(id)}/json/VisualizerName HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${owner.token}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "Expect: 100-continue",
    ]
    const answer = await exchange(port, `${head.join("\r\n")}\r\n\r\n${body}`)
    expect(answer).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/)
  })

  it("with HTTP/1.0 is answered 505 and closed, as docs/operating.md says", async () => {
    const answer = await exchange(
      port,
      "GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    )
    expect(answer).toMatch(/^HTTP\/1.1 505 /)
  })
})
