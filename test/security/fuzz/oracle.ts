import type { RawAnswer } from "./connection.ts"
import { type Draft, namesItsRow } from "./draft.ts"
import { injectedHeader, markup } from "./hostile.ts"
import { isSuccess, operations } from "./operations.ts"

/** Statuses that every operation may return without declaring them: too large, rate limited, unavailable. */
const anywhere = new Set([400, 413, 429, 431, 503])
/** Texts of program errors, of Postgres and of stack traces. No response may contain them. */
const internals = [
  /\bat [\w.<>]+ \(?(?:file:|\/|node:)/,
  /node_modules|\.ts:\d+|dist\/\w+\.js/,
  /\b(?:Type|Reference|Range|Syntax|Postgres)Error\b/,
  /syntax error at or near|violates \w+[ -]\w*key|duplicate key value|relation ".*" does not exist/,
  /invalid input syntax for|out of range for type|invalid byte sequence|PL\/pgSQL/,
  /Cannot read propert|is not a function|undefined is not/,
  /ECONNREFUSED|ETIMEDOUT|FiberFailure|SqlError/,
]
const pageHeaders: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ["content-security-policy", /frame-ancestors 'none'/],
  ["referrer-policy", /^no-referrer$/],
  ["x-content-type-options", /^nosniff$/],
]

/** A redirect leads to a path of this site, or to an http address that was registered for it. */
const safeLocation = /^(?:\/(?![/\\])|https?:\/\/)/

const header = ({ headers }: RawAnswer, name: string): string | undefined =>
  headers.find(([known]) => known === name)?.[1]

const jsonOf = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const isFields = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every(
    (issues) =>
      Array.isArray(issues) && issues.every((issue) => isText(issue?.code) && isText(issue?.message)),
  )

/** Returns what is wrong with the body of an error, or undefined. */
const faultOfError = (answer: RawAnswer, value: unknown, shape: string | undefined): string | undefined => {
  const body = (value ?? {}) as Record<string, unknown>
  if (!isText(body["error"])) return "an error without a text"
  if (shape === "lookup") return undefined
  if (shape === "oauth") return isText(body["error_description"]) ? undefined : "no error_description"
  if (!isText(body["code"])) return "an error without a code"
  // A replayed response is the stored one, with the id of the request that was carried out.
  const isReplayed = header(answer, "idempotent-replayed") !== undefined
  if (!isReplayed && body["request_id"] !== header(answer, "x-request-id"))
    return "an error without its request id"
  if (answer.status === 422 && !isFields(body["fields"])) return "a 422 without fields"
  return undefined
}

const faultOfPage = (answer: RawAnswer, text: string): string | undefined => {
  if (text.includes(markup)) return "a page that shows a text without encoding it"
  if (/<script(?![^>]* src=)/i.test(text) || /\son\w+=["']/i.test(text)) return "a page with an inline script"
  const missing = pageHeaders.find(([name, pattern]) => !pattern.test(header(answer, name) ?? ""))
  return missing === undefined ? undefined : `a page without ${missing[0]}`
}

const faultOfContent = (draft: Draft, answer: RawAnswer, isOurs: boolean): string | undefined => {
  const text = answer.body.toString()
  const type = header(answer, "content-type") ?? ""
  const leaked = internals.find((pattern) => pattern.test(text))
  if (leaked !== undefined && answer.status >= 400) return `internal details: ${leaked.exec(text)?.[0]}`
  if (type.startsWith("text/html")) return faultOfPage(answer, text)
  if (!type.startsWith("application/json")) return undefined
  const json = jsonOf(text)
  if (json === undefined) return draft.method === "HEAD" ? undefined : "a JSON response that is not JSON"
  if (answer.status >= 400)
    return faultOfError(answer, json.value, isOurs ? draft.row.errorBody : errorShape(json.value))
  if (!isOurs || answer.status !== (draft.row.status ?? 200)) return undefined
  return operations.get(draft.row.id)!.isAnswer(json.value)
    ? undefined
    : "a response that does not match its schema"
}

/** The form of an error of an operation that is not known, because the path or the method was changed. */
const errorShape = (value: unknown): string | undefined =>
  Object.hasOwn(Object(value), "request_id") ? undefined : "lookup"

const needsLogin = ({ row: { auth } }: Draft): boolean => auth !== "none" && auth !== "optional"

/**
 * Returns what is wrong with a response, or undefined. `secrets` are the secrets of the service, which no response
 * may contain.
 */
export const faultOf = (
  draft: Draft,
  answer: RawAnswer,
  secrets: ReadonlyArray<string>,
): string | undefined => {
  const { status } = answer
  const isOurs = namesItsRow(draft)
  if (status >= 500 && status !== 503) return `status ${status}`
  // A retry cannot help against a setting that is missing.
  const isTemporary = status === 503 && !answer.body.includes("is not configured")
  if (isTemporary && header(answer, "retry-after") === undefined) return "a 503 without Retry-After"
  if (answer.body.includes("before its deadline")) return "a request that reached its deadline"
  if (header(answer, injectedHeader) !== undefined) return "a header that the request has injected"
  const location = header(answer, "location")
  if (location !== undefined && !safeLocation.test(location)) return `a redirect to ${location}`
  if (header(answer, "x-request-id") === undefined && status !== 101) return "no X-Request-Id"
  if (status >= 400 && header(answer, "x-error-code") === undefined) return "an error without X-Error-Code"
  if (isOurs && !isSuccess(status) && !anywhere.has(status)) {
    const { declared } = operations.get(draft.row.id)!
    if (!declared.has(status)) return `undeclared status ${status}`
  }
  if (isOurs && isSuccess(status) && needsLogin(draft) && draft.caller.name === "anonymous")
    return `status ${status} without credentials`
  const secret = secrets.find((text) => answer.body.includes(text))
  if (secret !== undefined) return `a secret of the service: ${secret.slice(0, 4)}…`
  return faultOfContent(draft, answer, isOurs)
}
