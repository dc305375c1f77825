import { Result } from "effect"
import { InvalidRequest } from "../../../schema/errors.ts"
import { formDecode } from "./path.ts"

/** The parameters of a form or a query, by name. Each has one value. */
export type Form = Readonly<Record<string, string>>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/**
 * Parses parameters such as `a=1&b=2`. The names that occur more than once are returned too, because some callers must
 * reject them by name. Returns undefined if a name or a value cannot be percent-decoded or contains NUL.
 */
export const readParameters = (
  text: string,
): { readonly values: Form; readonly repeated: ReadonlySet<string> } | undefined => {
  const values: Record<string, string> = Object.create(null)
  const repeated = new Set<string>()
  for (const part of text.split("&")) {
    if (part === "") continue
    const equals = part.indexOf("=")
    const name = formDecode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? "" : formDecode(part.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    if (name in values) repeated.add(name)
    values[name] = value
  }
  return { values, repeated }
}

/**
 * Returns the parameters that have a value. OAuth treats a parameter without a value as omitted (RFC 6749 section
 * 3.1).
 */
export const dropEmpty = (form: Form): Form =>
  Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ""))

export const readForm = (body: Uint8Array): Result.Result<Form, InvalidRequest> => {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return Result.fail(new InvalidRequest({ error: "The form is not valid UTF-8." }))
  }
  const read = readParameters(text)
  if (read === undefined)
    return Result.fail(
      new InvalidRequest({ error: "The form has invalid percent-encoding or contains NUL (U+0000)." }),
    )
  const [twice] = read.repeated
  return twice === undefined
    ? Result.succeed(read.values)
    : Result.fail(new InvalidRequest({ error: `The form contains ${twice} more than once. Send it once.` }))
}
