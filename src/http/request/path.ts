/**
 * Percent-decodes a text once. Returns undefined for an invalid escape, for bytes that are not UTF-8, and for NUL,
 * which Postgres cannot store.
 */
export const percentDecode = (text: string): string | undefined => {
  if (text.includes("\0") || text.includes("%00")) return undefined
  if (!text.includes("%")) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Decodes a name or a value of a form or a query, in which a plus sign means a space. Returns undefined if it is
 * invalid.
 */
export const formDecode = (text: string): string | undefined => percentDecode(text.replaceAll("+", " "))

/** Returns the name without the brackets that some clients append to the name of a list, as in `tags[]=0x1003`. */
const withoutBrackets = (name: string): string => (name.endsWith("[]") ? name.slice(0, -2) : name)

/**
 * Parses a query string into a record of names and values. The values of a repeated name are joined by commas,
 * because clients send lists in both forms. Returns undefined if a name or a value is invalid.
 */
export const parseQuery = (query: string): Record<string, string> | undefined => {
  const values: Record<string, string> = Object.create(null)
  if (query === "") return values
  for (const part of query.split("&")) {
    if (part === "") continue
    const equals = part.indexOf("=")
    const name = formDecode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? "" : formDecode(part.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    const key = withoutBrackets(name)
    const earlier = values[key]
    values[key] = earlier === undefined ? value : `${earlier},${value}`
  }
  return values
}

export const parameterNames = (pattern: string): ReadonlyArray<string> =>
  [...pattern.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)
