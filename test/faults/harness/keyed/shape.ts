import type { Answer } from "../../../fixtures/api-call.ts"

/** The shape of a JSON value: the members and their types, without the values, which differ between two runs. */
const shapeOfValue = (value: unknown): unknown => {
  if (value === null) return "null"
  if (Array.isArray(value)) return value.map(shapeOfValue)
  if (typeof value !== "object") return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOfValue(member)]),
  )
}

/** The shape of a response: its type, the names of its cookies, and the shape of its body. */
export const shapeOf = ({ body, headers }: Answer): string =>
  JSON.stringify({
    type: headers.get("content-type"),
    cookies: headers.getSetCookie().map((line) => line.split("=")[0]),
    body: shapeOfValue(body),
  })
