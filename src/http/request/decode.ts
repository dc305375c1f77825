import { Result, Schema, SchemaIssue } from "effect"
import { type FieldIssue, InvalidRequest } from "../../../schema/errors.ts"
import { parseQuery } from "./path.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })
const format = SchemaIssue.makeFormatterStandardSchemaV1()
const maxDepth = 64
const maxIssuesShown = 5

const missing = "Missing key"

const refuse = (where: string, issue: SchemaIssue.Issue): InvalidRequest => {
  const texts: Array<string> = []
  const fields = new Map<string, ReadonlyArray<FieldIssue>>()
  for (const { message, path = [] } of format(issue).issues.slice(0, maxIssuesShown)) {
    const name = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
    texts.push(name === "" ? message : `${name}: ${message}`)
    const code = message === missing ? "required" : "invalid"
    if (name !== "") fields.set(name, [...(fields.get(name) ?? []), { code, message }])
  }
  return new InvalidRequest({
    error: `${where}: ${texts.join("; ")}`,
    ...(fields.size === 0 ? {} : { fields: Object.fromEntries(fields) }),
  })
}

/**
 * Makes a decoder for a part of the request (`where`); it is made once per route. The decoder returns the decoded
 * value, or the error to respond with.
 */
export const decoder = (schema: Schema.Top, where: string) => {
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>, { errors: "all" })
  return (input: unknown): Result.Result<unknown, InvalidRequest> => {
    const result = decode(input)
    return Result.isSuccess(result)
      ? Result.succeed(result.success)
      : Result.fail(refuse(where, result.failure.issue))
  }
}

const maxNameShown = 60

/**
 * Makes a check of a JSON body: an object must have no members except those of the schema. It is used for operations
 * that change only the members that the body has. There, a misspelled member would change nothing, and the response
 * would be a success. Members inside a member are not checked.
 */
export const memberCheck = (schema: Schema.Top) => {
  const { fields } = schema as { readonly fields?: Schema.Struct.Fields }
  if (fields === undefined) throw new Error("the members of a body can only be checked for a Struct")
  const known = Object.keys(fields)
  return (body: unknown): Result.Result<unknown, InvalidRequest> => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return Result.succeed(body)
    const unknown = Object.keys(body).filter((name) => !known.includes(name))
    if (unknown.length === 0) return Result.succeed(body)
    const shown = unknown.slice(0, maxIssuesShown).map((name) => name.slice(0, maxNameShown))
    return Result.fail(
      new InvalidRequest({
        error: `body: unknown members: ${shown.join(", ")}. Expected only: ${known.join(", ")}.`,
        fields: Object.fromEntries(
          shown.map((name) => [name, [{ code: "unknown", message: "unknown member" }]]),
        ),
      }),
    )
  }
}

/**
 * Whether the brackets of a JSON text are nested deeper than any valid request needs. Recursion over such a value
 * could exhaust the stack.
 */
export const isTooDeep = (text: string): boolean => {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 92) i++
      else if (c === 34) inString = false
    } else if (c === 34) inString = true
    else if (c === 91 || c === 123) {
      if (++depth > maxDepth) return true
    } else if (c === 93 || c === 125) depth--
  }
  return false
}

/** Whether Postgres can store the value. It accepts neither NUL nor lone surrogates in a text. */
const isStorable = (value: unknown): boolean => {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0")
  if (Array.isArray(value)) return value.every(isStorable)
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).every(([key, member]) => isStorable(key) && isStorable(member))
  }
  return true
}

export const parseJsonBody = (body: Uint8Array): Result.Result<unknown, InvalidRequest> => {
  if (body.length === 0)
    return Result.fail(new InvalidRequest({ error: "body: the body is empty; send JSON" }))
  try {
    const text = utf8.decode(body)
    if (isTooDeep(text))
      return Result.fail(
        new InvalidRequest({ error: `body: the JSON is nested deeper than ${maxDepth} levels` }),
      )
    const value: unknown = JSON.parse(text)
    // NUL and lone surrogates can occur only as \u escapes: the UTF-8 decoder rejects lone surrogates, and JSON
    // rejects an unescaped NUL. So a text without \u needs no check.
    if (text.includes("\\u") && !isStorable(value)) {
      return Result.fail(
        new InvalidRequest({ error: "body: a string contains NUL (U+0000) or a lone surrogate" }),
      )
    }
    return Result.succeed(value)
  } catch {
    return Result.fail(new InvalidRequest({ error: "body: the body is not valid JSON in UTF-8" }))
  }
}

export const parseQueryText = (query: string): Result.Result<Record<string, string>, InvalidRequest> => {
  const values = parseQuery(query)
  return values === undefined
    ? Result.fail(
        new InvalidRequest({
          error: "query: the query string has invalid percent-encoding or contains NUL (U+0000)",
        }),
      )
    : Result.succeed(values)
}
