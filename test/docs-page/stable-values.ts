import { createHash } from "node:crypto"
import { publishedSecrets } from "../../src/config/published-demo-secrets.ts"
import { password } from "../accounts/person.ts"

/**
 * Replaces what differs between two runs by fixed values: ids, times, addresses, keys and tokens. The same value is
 * replaced by the same text everywhere in an example.
 */

const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
const secrets: Readonly<Record<string, string>> = {
  access_token: jwt,
  refresh_token: "r_4Zc1mWq8TnVb2KxY",
  token: "t_9pLd3sRf6GhJk0Qw",
  api_key: "svc_7Hq2Lm_EXAMPLEonlyTheHolderKnowsThis",
  client_secret: "s_5TgB8nHu1JmKo3Lp",
  form_token: "f_2WsX6yHn9IkM",
  request_id: "8c1f02d7a3b4-1",
  order_number: "8bd5c92a",
  next: "WzEsIm5leHQiXQ",
  previous: "WzEsInByZXZpb3VzIl0",
  ga_secret: "JBSWY3DPEHPK3PXP",
  kid: "ASVexwTMN4L8Mpw-CCpqj2_WOIXRJwV-KjwqtRrwohU",
  x: "xGa_zpD4bDKUeRqt7Pr_hHYSyMbxQnsKLSQWP04eKgs",
}
const times = { normal: "2026-01-31T12:00:00.000Z", later: "2026-01-31T12:05:00.000Z" }
const people = ["alice", "bob", "carol", "dave"]
const hex = (n: number, digits: number) =>
  createHash("sha512").update(`example ${n}`).digest("hex").repeat(2).slice(0, digits)

const longestText = 400
const shownCharacters = 60

/** Shows emoji as they are. Clients send them percent-encoded, or as they are. */
export const readablePath = (path: string): string =>
  path.replaceAll(/(?:%[89A-F][0-9A-F])+/gi, (encoded) => decodeURIComponent(encoded))

/** Returns a function that makes the values of one example stable. */
export const stabilizer = (serviceUrl: string) => {
  const seen = new Map<string, Map<string, string>>()
  const named = (kind: string, value: string, make: (n: number) => string): string => {
    const known = seen.get(kind) ?? new Map<string, string>()
    seen.set(kind, known)
    const name = known.get(value) ?? make(known.size)
    known.set(value, name)
    return name
  }
  const later = /expir|until|end|due/

  const text = (value: string, key: string): string =>
    value
      .replaceAll(serviceUrl, "http://localhost:3001")
      .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, jwt)
      .replaceAll(
        /\b20[23]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g,
        later.test(key) ? times.later : times.normal,
      )
      .replaceAll(/(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/g, (id) =>
        /^0{8}-0{4}-4/.test(id)
          ? id
          : named("uuid", id, (n) => `00000000-0000-4000-8000-${String(n + 1).padStart(12, "0")}`),
      )
      .replaceAll(/\bnew-[\w-]+@example\.com/g, "ada@example.com")
      .replaceAll(/\b(user|person|invited)-[\w-]+@example\.com/g, (email) =>
        named("email", email, (n) => `${people[n] ?? `user${n}`}@example.com`),
      )
      .replaceAll(
        /(?<![0-9a-zA-Z])(0x)?([0-9a-f]{130}|[0-9a-f]{128}|[0-9a-f]{64})(?![0-9a-f])/g,
        (all, prefix = "", digits) => named("hex", all, (n) => `${prefix}${hex(n, digits.length)}`),
      )
      .replaceAll(/svc_[\w-]{6,}/g, secrets["api_key"]!)
      .replaceAll(/\+1415\d{7}/g, "+14155550100")

  const stable = (value: unknown, key = ""): unknown => {
    if (Array.isArray(value))
      return key === "backup_codes"
        ? ["k4d9-x2pm-7qrt", "b8w3-z5nc-1fhj"]
        : value.map((item) => stable(item, key))
    if (typeof value === "object" && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [text(name, ""), stable(member, name)]),
      )
    if (key.endsWith("password") && value === password) return publishedSecrets["alice@example.com"]
    if (key === "seconds_until_expiry" && typeof value === "number") return 300
    if (key === "not_before" && typeof value === "number") return 1_795_095_991
    if (typeof value !== "string") return value
    const secret = secrets[key]
    if (secret && value !== "") return secret
    if (key === "code" && /^\d{6}$/.test(value)) return "123456"
    const shown = text(value, key)
    return shown.length > longestText ? `${shown.slice(0, shownCharacters)}…` : shown
  }
  return { stable, text: (value: string) => text(value, "") }
}

const mostItems = 2
const mostTexts = 8

/** Shortens long lists: a reader needs two items to see their form. */
export const shortened = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    const isLong = typeof value[0] === "object" ? value.length > mostItems : value.length > mostTexts
    return (isLong ? value.slice(0, mostItems + 1) : value).map(shortened)
  }
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]))
  return value
}

/** Describes the form of a value. Two examples with the same form tell a reader the same. */
export const formOfValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(formOfValue)
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, formOfValue(member)]))
  return value === null ? "null" : typeof value
}
