import { Schema } from "effect"

export type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Moves the description of a member to the schema itself. The library writes it as a part of `allOf`, which many
 * generators ignore.
 */
const withoutNotes = (schema: Json): Json => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const isNote = (part: unknown) => isObject(part) && Object.keys(part).every((key) => key === "description")
  const notes = Object.assign({}, ...allOf.filter(isNote)) as Json
  const others = allOf.filter((part) => !isNote(part))
  if (others.length === 1 && Object.keys(rest).length === 0) return { ...others[0], ...notes }
  return { ...rest, ...notes, ...(others.length > 0 && { allOf: others }) }
}

/**
 * Writes choices in their shortest form, because linters report the long ones: a choice of one schema is this schema, and
 * a choice with the empty schema allows any value.
 */
const simplified = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(simplified)
  if (!isObject(value)) return value
  const written = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, simplified(member)]),
  )
  const { anyOf, ...rest } = withoutNotes(written)
  if (!Array.isArray(anyOf)) return rest
  if (anyOf.some((choice) => isObject(choice) && Object.keys(choice).length === 0)) return rest
  return anyOf.length === 1 && isObject(anyOf[0]) ? { ...anyOf[0], ...rest } : { anyOf, ...rest }
}

/**
 * Collects the schemas of a document. `ref` returns the JSON Schema of the encoded form of a schema, and adds the named
 * schemas that it uses to `schemas`.
 */
export const componentSchemas = (given: Json = {}) => {
  const schemas: Json = { ...given }
  const known = new Map<Schema.Top, Json>()
  const moved = (json: unknown): unknown =>
    simplified(JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", "#/components/schemas/")))
  const ref = (schema: Schema.Top): Json => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const document = Schema.toJsonSchemaDocument(Schema.toEncoded(schema))
    Object.assign(schemas, moved(document.definitions))
    const written = moved(document.schema) as Json
    known.set(schema, written)
    return written
  }
  return { schemas, ref }
}
