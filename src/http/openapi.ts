import { Schema } from "effect"
import {
  Conflict,
  Forbidden,
  InvalidRequest,
  type ProblemClass,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized,
  Unprocessable,
} from "../../schema/errors.ts"
import { contractVersion, productVersion } from "../config/product-version.ts"
import { parameterNames } from "./request/path.ts"
import { deprecationText } from "./response/deprecation.ts"
import { isWrite, type Route, takesKey } from "./route.ts"

type Json = Record<string, unknown>

const securitySchemes = {
  JWT: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "Bearer <ACCESS_TOKEN>" },
  apiKey: { type: "apiKey", in: "header", name: "X-Api-Key", description: "The API key, without a prefix" },
  two_factor: { type: "http", scheme: "bearer", description: "The access token of a login session" },
}

const security = (route: Route): ReadonlyArray<Json> => {
  const scopes = route.scope === undefined ? [] : [route.scope]
  switch (route.auth) {
    case "none":
      return []
    case "optional":
      return [{}, { JWT: scopes }, { apiKey: scopes }]
    case "two_factor":
      return [{ two_factor: scopes }]
    default:
      return [{ JWT: scopes }, { apiKey: scopes }]
  }
}

/**
 * Describes the scopes that only some requests need, because `security` can only list those that every request needs, and
 * the end of a deprecated operation.
 */
const describe = ({ deprecated, scopesInCases = {} }: Route): Json => {
  const sentences = [
    ...(deprecated === undefined ? [] : [deprecationText(deprecated)]),
    ...Object.entries(scopesInCases).map(([scope, where]) => `${where} requires the scope ${scope}.`),
  ]
  return {
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(sentences.length === 0 ? {} : { description: sentences.join(" ") }),
  }
}

const problemMembers = {
  error: { type: "string" },
  code: { type: "string" },
  request_id: { type: "string" },
}

const errorSchemas: Record<string, Json> = {
  Problem: { type: "object", required: Object.keys(problemMembers), properties: problemMembers },
  LookupProblem: { type: "object", required: ["error"], properties: { error: { type: "string" } } },
  OauthProblem: {
    type: "object",
    required: ["error", "error_description"],
    properties: { error: { type: "string" }, error_description: { type: "string" } },
  },
  FieldProblem: {
    type: "object",
    required: [...Object.keys(problemMembers), "fields"],
    properties: {
      ...problemMembers,
      fields: {
        type: "object",
        additionalProperties: {
          type: "array",
          items: {
            type: "object",
            required: ["code", "message"],
            properties: { code: { type: "string" }, message: { type: "string" } },
          },
        },
      },
    },
  },
}

const takesInput = (route: Route): boolean =>
  [route.query, route.search, route.body].some((given) => given !== undefined) ||
  isWrite(route) ||
  parameterNames(route.path).length > 0

/** Returns the errors that a route declares, and the errors of the checks before its handler. */
const problemsOf = (route: Route): ReadonlyArray<ProblemClass> => [
  ...(takesInput(route) ? [InvalidRequest] : []),
  ...(route.auth === "none" || route.auth === "optional" ? [] : [Unauthorized, Forbidden]),
  ...(route.sensitive ? [TwoFactorRequired] : []),
  ...(route.limit === undefined && !takesKey(route) ? [] : [TooManyRequests]),
  ...route.errors,
  ...(takesKey(route) ? [Conflict, Unprocessable] : []),
]

const problemContent = (route: Route, status?: number): Json => {
  if (route.errorBody === "page") return { "text/html": { schema: { type: "string" } } }
  const name =
    route.errorBody === "lookup"
      ? "LookupProblem"
      : route.errorBody === "oauth"
        ? "OauthProblem"
        : status === Unprocessable.kind.status
          ? "FieldProblem"
          : "Problem"
  return { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } }
}

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
const validatorParameter = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of a cached response. The response is 304 if it has not changed.",
  schema: { type: "string" },
}

const header = (name: string, description: string, schema: Json = { type: "string" }) => ({
  headers: { [name]: { description, schema } },
})

/** Returns the response headers that a client needs to handle this status. */
const headersOf = (status: number): Json => {
  switch (status) {
    case 302:
    case 303:
      return header("Location", "The address to continue at.")
    case 401:
      return header("WWW-Authenticate", "The authentication scheme to use.")
    case 429:
    case 503:
      return header(
        "Retry-After",
        "Seconds to wait before the next attempt. Absent if the same request cannot succeed later.",
        {
          type: "integer",
          minimum: 0,
        },
      )
    default:
      return {}
  }
}

const entityTag = header("ETag", "Identifies this version of the response.")
const replayed = header(
  "Idempotent-Replayed",
  "Present if this is the stored response of an earlier request with the same key.",
  {
    const: "true",
  },
)
const isRedirect = (status: number): boolean => status === 302 || status === 303

/**
 * Returns the OpenAPI document, which is derived from the route table. Only the schemas of shared error bodies are
 * written by hand.
 */
export const openApi = (routes: ReadonlyArray<Route>, servers: ReadonlyArray<string>) => {
  const schemas: Json = { ...errorSchemas }
  const paths: Record<string, Json> = {}

  const moved = (json: unknown): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll("#/$defs/", "#/components/schemas/"))
  const known = new Map<Schema.Top, Json>()
  const ref = (schema: Schema.Top): Json => {
    const before = known.get(schema)
    if (before !== undefined) return before
    const document = Schema.toJsonSchemaDocument(Schema.toEncoded(schema))
    Object.assign(schemas, moved(document.definitions))
    const written = moved(document.schema) as Json
    known.set(schema, written)
    return written
  }

  /** Documents that the body of a PATCH has no other members (see `memberCheck`). */
  const strict = (written: Json): Json => {
    const name = String(written["$ref"]).replace("#/components/schemas/", "")
    Object.assign(schemas[name] ?? written, { additionalProperties: false })
    return written
  }

  const parameters = (route: Route) => {
    const fields = route.query ?? route.search
    const query = fields === undefined ? undefined : ref(Schema.Struct(fields))
    const required = new Set((query?.["required"] as ReadonlyArray<string> | undefined) ?? [])
    return [
      ...parameterNames(route.path).map((name) => ({
        name,
        in: "path",
        required: true,
        schema:
          route.params?.[name] === undefined ? { type: "string" } : typedParameter(ref(route.params[name])),
      })),
      ...Object.entries((query?.["properties"] as Json | undefined) ?? {}).map(([name, schema]) => ({
        name,
        in: "query",
        required: required.has(name),
        schema: typedParameter(schema as Json),
      })),
      ...(route.headers?.includes(validator) ? [validatorParameter] : []),
      ...(takesKey(route) ? [idempotencyParameter] : []),
    ]
  }

  const responses = (route: Route): Json => {
    const success = route.status ?? 200
    const hasValidator = route.headers?.includes(validator) === true
    const found: Json = {
      [success]: {
        description: route.summary,
        ...(hasValidator ? entityTag : takesKey(route) ? replayed : headersOf(success)),
        content: isRedirect(success)
          ? {}
          : { [route.produces ?? "application/json"]: { schema: ref(route.success) } },
      },
    }
    if (hasValidator)
      found["304"] = { description: "The cached response is still valid.", ...entityTag, content: {} }
    for (const status of route.redirects ?? [])
      found[status] = { description: "Redirects the browser.", ...headersOf(status), content: {} }
    for (const { kind } of problemsOf(route)) {
      found[kind.status] ??= {
        description: kind.summary,
        ...headersOf(kind.status),
        content: problemContent(route, kind.status),
      }
    }
    found["default"] = { description: "Any other error.", content: problemContent(route) }
    return found
  }

  for (const route of routes.filter((r) => !r.internal)) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = {
      ...paths[path],
      [route.method === "del" ? "delete" : route.method]: {
        operationId: route.id,
        summary: route.summary,
        tags: [route.group],
        ...describe(route),
        security: security(route),
        parameters: parameters(route),
        ...(route.body && {
          requestBody: {
            required: true,
            content: {
              [route.rawBody ? "application/x-www-form-urlencoded" : "application/json"]: {
                schema: route.method === "patch" ? strict(ref(route.body)) : ref(route.body),
              },
            },
          },
        }),
        responses: responses(route),
      },
    }
  }

  return {
    openapi: "3.1.0",
    info: {
      title: "Emoji Id Directory Service",
      version: contractVersion,
      "x-product-version": productVersion,
    },
    servers: servers.map((url) => ({ url })),
    paths,
    components: { schemas, securitySchemes },
  }
}
