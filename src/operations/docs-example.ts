import { type Operation, resolve, type Shape, type Shapes } from "./docs-document.ts"

/** Example values by the name of a field or parameter. The first pattern that matches the name gives the value. */
const byName: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(emoji_id|eid|yats|svc)$/, "🦊🎧🐙🚀"],
  [/email|^to$/, "alice@example.com"],
  [/password/, "alice-demo-1"],
  [/pubkey/, "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"],
  [/phone/, "+15551234567"],
  [/_ur[li]$|^redirect|link$/, "https://example.com/"],
  [/^tag$/, "0x1003"],
  [/^code$/, "a1b2c3"],
  [/^(account|eth_address)$/, "0x9858effd232b4033e47d90003d41ec34ecaeda94"],
  [/^token_id$/, "1"],
  [/^keys$/, "SvcPageData"],
  [/^partner_path$/, "demo-wallet"],
]
/** An emoji id that the demo data registers. */
const registered = "🚀🌊🔥"

const textOf = (shape: Shape, name: string): string => {
  if (shape.format === "uuid") return "00000000-0000-4000-8000-000000000000"
  if (shape.format === "date-time") return "2030-01-01T00:00:00Z"
  return byName.find(([pattern]) => pattern.test(name))?.[1] ?? "text".padEnd(shape.minLength ?? 0, "t")
}

/**
 * Returns an example value of a schema. The example of an object has the required properties, and `email` if the
 * object has this property. If the schema has no list of required properties, the first property is used.
 */
export const exampleOf = (given: Shape, shapes: Shapes, name = ""): unknown => {
  const shape = resolve(given, shapes)
  if (shape.examples !== undefined) return shape.examples[0]
  if (shape.const !== undefined) return shape.const
  if (shape.enum !== undefined) return shape.enum[0]
  const choices = shape.anyOf ?? shape.oneOf
  if (choices !== undefined) return exampleOf(choices[0] ?? {}, shapes, name)
  switch (shape.type) {
    case "string":
      return textOf(shape, name)
    case "integer":
    case "number":
      return Math.max(shape.minimum ?? 1, Math.min(1, shape.maximum ?? 1))
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return [exampleOf(shape.items ?? {}, shapes, name)]
    default: {
      const { properties = {}, required = Object.keys(properties).slice(0, 1) } = shape
      const sent = new Set([...required, ...("email" in properties ? ["email"] : [])])
      return Object.fromEntries(
        [...sent].map((member) => [member, exampleOf(properties[member] ?? {}, shapes, member)]),
      )
    }
  }
}

/** Quotes a text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * Returns a curl command that calls the operation. In the command, `$B` is the base URL and `$A` is an access token.
 */
export const curlLine = (method: string, path: string, operation: Operation, shapes: Shapes): string => {
  const example = (place: string) =>
    operation.parameters
      .filter((parameter) => parameter.in === place && parameter.required)
      .map(({ name, schema }) => [name, String(exampleOf(schema, shapes, name))] as const)
  const filled = example("path").reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    path.replace("{emoji_id}", registered),
  )
  const query = example("query").map(([name, value]) => ` --data-urlencode ${quoted(`${name}=${value}`)}`)
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const body = content === undefined ? undefined : exampleOf(content.schema, shapes)
  const isAnonymous = operation.security.length === 0 || Object.keys(operation.security[0] ?? {}).length === 0
  return [
    "curl",
    ...(query.length > 0 ? [" -G"] : []),
    ...(method === "get" || (method === "post" && body !== undefined) ? [] : [` -X ${method.toUpperCase()}`]),
    ` $B${filled}`,
    ...query,
    ...(isAnonymous ? [] : [' -H "Authorization: Bearer $A"']),
    ...(body === undefined
      ? []
      : type === "application/json"
        ? [' -H "Content-Type: application/json"', ` -d ${quoted(JSON.stringify(body))}`]
        : Object.entries(body as object).map(
            ([name, value]) => ` --data-urlencode ${quoted(`${name}=${value}`)}`,
          )),
  ].join("")
}
