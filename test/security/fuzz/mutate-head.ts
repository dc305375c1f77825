import type { Luck } from "../../fixtures/walk.ts"
import { type Draft, escaped } from "./draft.ts"
import { hostileText } from "./hostile.ts"

type Mutation = (draft: Draft, luck: Luck) => Draft

/** Pieces of a path or a query that are not valid percent-encoding, or that another parser reads in another way. */
const brokenPieces = [
  "%",
  "%zz",
  "%00",
  "%ff",
  "%C0%AF",
  "%F0%9F",
  "%2e%2e",
  "..",
  ".",
  "a%2Fb",
  "%252e",
  "+",
  ";x=1",
  "a\\b",
  "🚀",
  "\x7f",
  "*",
  "x".repeat(5_000),
]

const replaceParam: Mutation = (draft, luck) => {
  const name = luck.pick(Object.keys(draft.params))
  return name === undefined ? draft : { ...draft, params: { ...draft.params, [name]: hostileText(luck) } }
}

const breakPath: Mutation = (draft, luck) => {
  const piece = () => luck.pick(brokenPieces)!
  const path = draft.row.path.replaceAll(/:(\w+)/g, (_, name: string) =>
    luck.chance(0.6) ? piece() : escaped(draft.params[name] ?? ""),
  )
  return {
    ...draft,
    rawPath: luck.pick([path, `${path}/`, `/${path}`, `${path}/${piece()}`, path.toUpperCase(), `.${path}`])!,
  }
}

const replaceValue: Mutation = (draft, luck) => {
  const names = [
    ...draft.query.map(([name]) => name),
    ...Object.keys(draft.row.query ?? draft.row.search ?? {}),
  ]
  const name = luck.pick(names) ?? "page"
  const others = draft.query.filter(([known]) => known !== name)
  return { ...draft, query: [...others, [name, hostileText(luck)]] }
}

const repeatValue: Mutation = (draft, luck) => {
  const pair = luck.pick(draft.query) ?? (["limit", "1"] as const)
  const copies = Array.from({ length: luck.pick([1, 2, 300])! }, () => pair)
  return { ...draft, query: [...draft.query, ...copies, [pair[0], hostileText(luck)]] }
}

const removeValue: Mutation = (draft, luck) => {
  const gone = luck.below(Math.max(1, draft.query.length))
  return { ...draft, query: draft.query.filter((_, at) => at !== gone) }
}

const breakQuery: Mutation = (draft, luck) => {
  const name = luck.pick(Object.keys(draft.row.query ?? draft.row.search ?? {})) ?? "a"
  return {
    ...draft,
    rawQuery: luck.pick([
      `${name}=${luck.pick(brokenPieces)}`,
      `${name}[]=1&${name}[a]=2`,
      "__proto__=1&constructor=2",
      "=&&=a&a",
      `${name}`,
      "?".repeat(50),
      "a=1&".repeat(1_000),
      `${name}=%F0%9F%9A%80%F0%9F`,
    ])!,
  }
}

const badCredentials = [
  "Bearer",
  "Bearer ",
  "Bearer null",
  "bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
  "Bearer eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.AAAA",
  "Basic YTpi",
  `Bearer ${"a".repeat(6_000)}`,
  "Bearer a.b.c.d",
]

const replaceCredentials: Mutation = (draft, luck) => {
  const headers: Record<string, string> = luck.chance(0.7)
    ? { authorization: luck.pick(badCredentials)! }
    : { "x-api-key": luck.pick(["", "svc_a_b", "svc__", "svc_".repeat(100), "\u00ff"])! }
  return { ...draft, caller: { name: "anonymous", headers } }
}

const addHeader: Mutation = (draft, luck) => {
  const text = () =>
    hostileText(luck)
      .replaceAll(/[\r\n\0]/g, " ")
      .slice(0, 2_000)
  const [name, value] = luck.pick([
    ["idempotency-key", `key-${luck.below(20)}`],
    ["idempotency-key", text()],
    ["x-request-id", text()],
    ["x-forwarded-for", text()],
    ["x-forwarded-host", "evil.example"],
    ["origin", "https://evil.example"],
    ["if-none-match", text()],
    ["cookie", `svc_session=${text()}; svc_visit=${text()}; svc_form=x`],
    ["accept", luck.pick(["text/html", "*/*;q=0", text()])!],
    ["accept-encoding", "gzip;q=0, br, identity;q=x"],
    ["range", "bytes=0-0,-1"],
    ["expect", "100-continue"],
    ["sec-fetch-site", luck.pick(["same-origin", "cross-site"])!],
    ["x-http-method-override", "DELETE"],
    ["stripe-signature", "t=1,v1=aa"],
    ["sandbox-signature", "t=1,v1=aa"],
  ] as const)!
  return { ...draft, headers: { ...draft.headers, [name]: value } }
}

/** Shapes that the library leaves unanswered until its idle time-out are in test/security/abuse/raw-http.test.ts, because they take long. */
const addLines: Mutation = (draft, luck) => ({
  ...draft,
  lines: luck.pick([
    ["authorization: Bearer a", "authorization: Bearer b"],
    ["x-api-key: a", "X-API-KEY: b"],
    ["host: other.example"],
    [`x-long: ${"y".repeat(20_000)}`],
    Array.from({ length: 40 }, (_, at) => `x-many-${at}: 1`),
    ["x-bytes: \xff\xfe\x80"],
    ["x-tab:\t \t"],
    ["connection: upgrade", "upgrade: websocket"],
    ["te: trailers"],
  ])!,
})

const changeMethod: Mutation = (draft, luck) => ({
  ...draft,
  method: luck.pick(["HEAD", "OPTIONS", "DELETE", "PUT", "PATCH", "GET", "POST", "TRACE", "BREW"])!,
})

export const headMutations: ReadonlyArray<Mutation> = [
  replaceParam,
  replaceParam,
  replaceParam,
  breakPath,
  replaceValue,
  replaceValue,
  repeatValue,
  removeValue,
  breakQuery,
  replaceCredentials,
  addHeader,
  addHeader,
  addLines,
  changeMethod,
]
