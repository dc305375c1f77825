import { Schema } from "effect"
import { parameterNames } from "../request/path.ts"
import { type Route, takesKey } from "../route.ts"
import type { Json } from "./json-schema.ts"

const idempotencyParameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "Makes the request safe to retry. A second request with the same key is not executed; it gets the first response.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
}

/**
 * Returns the schema of a parameter. Numbers and booleans are sent as text in a path or a query, but they are
 * documented as numbers and booleans. An empty value, which means a missing parameter, is not documented.
 */
const typedParameter = (schema: Json): Json => {
  if (schema["minimum"] !== undefined) return { ...schema, type: "integer" }
  const values = (schema["enum"] as ReadonlyArray<unknown> | undefined)?.filter((value) => value !== "")
  if (values === undefined) return schema
  return String(values) === "true,false" ? { type: "boolean" } : { ...schema, enum: values }
}

const validator = "if-none-match"
export const takesValidator = ({ headers }: Route): boolean => headers?.includes(validator) === true

const validatorParameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of a cached response. The response is 304 if it has not changed.",
  schema: { type: "string" },
}

/** Returns the description of a parameter and its schema without it, because OpenAPI has a place for it of its own. */
const describedParameter = (schema: Json): Json => {
  const { description, ...rest } = schema
  return { ...(description === undefined ? {} : { description }), schema: typedParameter(rest) }
}

/** Returns the parameters of an operation: path, query, and the headers that the handler reads. */
export const parametersOf = (route: Route, ref: (schema: Schema.Top) => Json) => {
  const fields = route.query ?? route.search
  const query = fields === undefined ? undefined : ref(Schema.Struct(fields))
  const required = new Set((query?.["required"] as ReadonlyArray<string> | undefined) ?? [])
  return [
    ...parameterNames(route.path).map((name) => ({
      name,
      in: "path",
      required: true,
      ...describedParameter(
        route.params?.[name] === undefined ? { type: "string" } : ref(route.params[name]),
      ),
    })),
    ...Object.entries((query?.["properties"] as Json | undefined) ?? {}).map(([name, schema]) => ({
      name,
      in: "query",
      required: required.has(name),
      ...describedParameter(schema as Json),
    })),
    ...(takesValidator(route) ? [validatorParameter] : []),
    ...(takesKey(route) ? [idempotencyParameter] : []),
  ]
}
