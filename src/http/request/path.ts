/**
 * Percent-decodes once and strictly: undefined for a bad escape, for bytes that are not UTF-8, and for NUL, which nothing
 * that is stored can hold.
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

/** As forms and queries write it: a plus sign is a space. */
export const formDecode = (text: string): string | undefined => percentDecode(text.replaceAll("+", " "))

/** The query as a flat record. A repeated name is joined by commas, as lists are sent either way. */
export const parseQuery = (query: string): Record<string, string> | undefined => {
  const values: Record<string, string> = Object.create(null)
  if (query === "") return values
  for (const part of query.split("&")) {
    if (part === "") continue
    const equals = part.indexOf("=")
    const name = formDecode(equals < 0 ? part : part.slice(0, equals))
    const value = equals < 0 ? "" : formDecode(part.slice(equals + 1))
    if (name === undefined || value === undefined) return undefined
    const earlier = values[name]
    values[name] = earlier === undefined ? value : `${earlier},${value}`
  }
  return values
}

export const parameterNames = (pattern: string): ReadonlyArray<string> =>
  [...pattern.matchAll(/:(\w+)/g)].map(([, name = ""]) => name)
