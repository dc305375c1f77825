/**
 * Reads and writes one-dimensional Postgres arrays. By default the client reads the array types with a query at every
 * connect. If the backend is killed during that query, an unhandled rejection ends the process. So the array types
 * that we use are defined here.
 */

const quote = (value: unknown): string =>
  value === null || value === undefined ? "NULL" : `"${String(value).replaceAll(/["\\]/g, "\\$&")}"`

export const formatArray = (values: ReadonlyArray<unknown>): string => `{${values.map(quote).join(",")}}`

export const parseArray = <A>(text: string, parse: (element: string) => A): Array<A | null> => {
  const values: Array<A | null> = []
  let i = 1
  while (i < text.length - 1) {
    let element = ""
    const quoted = text[i] === '"'
    if (quoted) {
      for (i++; text[i] !== '"'; i++) {
        if (text[i] === "\\") i++
        element += text[i]
      }
      i++
    } else {
      while (text[i] !== "," && i < text.length - 1) element += text[i++]
    }
    values.push(!quoted && element === "NULL" ? null : parse(element))
    i++
  }
  return values
}

const arrayType = <A>(oid: number, parse: (element: string) => A) => ({
  to: oid,
  from: [oid],
  serialize: formatArray,
  parse: (text: string) => parseArray(text, parse),
})

const same = (text: string) => text

export const arrayTypes = {
  textArray: arrayType(1009, same),
  varcharArray: arrayType(1015, same),
  uuidArray: arrayType(2951, same),
  int4Array: arrayType(1007, Number),
  int8Array: arrayType(1016, Number),
  boolArray: arrayType(1000, (text) => text === "t"),
  float8Array: arrayType(1022, Number),
  timestamptzArray: arrayType(1185, (text) => new Date(text).toISOString()),
  jsonbArray: arrayType(3807, (text) => JSON.parse(text) as unknown),
}
