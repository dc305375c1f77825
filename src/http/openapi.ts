import { contractVersion, productVersion } from "../config/product-version.ts"
import { type Examples, noExamples } from "./openapi/examples.ts"
import { componentSchemas, type Json } from "./openapi/json-schema.ts"
import { parametersOf, takesValidator } from "./openapi/parameters.ts"
import { errorExamples, errorSchemas, problemContent, problemsByStatus } from "./openapi/problems.ts"
import { security, securitySchemes } from "./openapi/security.ts"
import { deprecationText } from "./response/deprecation.ts"
import { type Route, takesKey } from "./route.ts"

/**
 * Describes the operation, the scopes that only some requests need, because `security` can only list those that every
 * request needs, and the end of a deprecated operation.
 */
const describe = ({ deprecated, description, scopesInCases = {} }: Route): Json => {
  const sentences = [
    ...(description === undefined ? [] : [description]),
    ...(deprecated === undefined ? [] : [deprecationText(deprecated)]),
    ...Object.entries(scopesInCases).map(([scope, where]) => `The scope ${scope} is required for ${where}.`),
  ]
  return {
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(sentences.length === 0 ? {} : { description: sentences.join(" ") }),
  }
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

const errorHeaders = {
  "X-Error-Code": {
    description: "The code of the error, also if the body has none.",
    schema: { type: "string" },
  },
  "X-Request-Id": {
    description: "The id of the request in the log of the service.",
    schema: { type: "string" },
  },
}
const errorHeaderRefs = Object.fromEntries(
  Object.keys(errorHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)
const headersOfError = (status?: number): Json => ({
  headers: { ...(status === undefined ? {} : (headersOf(status)["headers"] as Json)), ...errorHeaderRefs },
})

const entityTag = header("ETag", "Identifies this version of the response.")
const replayed = header(
  "Idempotent-Replayed",
  "Present if this is the stored response of an earlier request with the same key.",
  {
    const: "true",
  },
)
/** A list that is returned as an array has its cursors in this header. */
const pageLinks = header(
  "Link",
  'The URLs of the next and the previous page, if they exist: `<…>; rel="next", <…>; rel="prev"` (RFC 8288).',
)
const isArrayList = (route: Route, answer: Json): boolean =>
  answer["type"] === "array" && route.query?.["after"] !== undefined

const withExample = (content: Json, example: unknown): Json =>
  example === undefined ? content : { ...content, example }

const isRedirect = (status: number): boolean => status === 302 || status === 303

/**
 * Returns the OpenAPI document, which is derived from the route table. Only the schemas of shared error bodies are
 * written by hand.
 */
export const openApi = (
  routes: ReadonlyArray<Route>,
  servers: ReadonlyArray<string>,
  examples: Examples = noExamples,
) => {
  const { ref, schemas } = componentSchemas(errorSchemas)
  const paths: Record<string, Json> = {}

  /** Documents that the body of a PATCH has no other members (see `memberCheck`). */
  const strict = (written: Json): Json => {
    const name = String(written["$ref"]).replace("#/components/schemas/", "")
    Object.assign(schemas[name] ?? written, { additionalProperties: false })
    return written
  }

  const responses = (route: Route): Json => {
    const success = route.status ?? 200
    const hasValidator = takesValidator(route)
    const schema = ref(route.success)
    const successHeaders = hasValidator
      ? entityTag
      : isArrayList(route, schema)
        ? pageLinks
        : takesKey(route)
          ? replayed
          : headersOf(success)
    const found: Json = {
      [success]: {
        description: route.summary,
        ...successHeaders,
        content: isRedirect(success)
          ? {}
          : {
              [route.produces ?? "application/json"]: withExample(
                { schema },
                examples.operations[route.id]?.response,
              ),
            },
      },
    }
    if (hasValidator)
      found["304"] = { description: "The cached response is still valid.", ...entityTag, content: {} }
    for (const status of route.redirects ?? [])
      found[status] = { description: "Redirects the browser.", ...headersOf(status), content: {} }
    for (const [status, kinds] of problemsByStatus(route)) {
      found[status] ??= {
        description: kinds[0]?.summary,
        ...headersOfError(status),
        content: problemContent(route, kinds),
      }
    }
    found["default"] = {
      description: "Any other error.",
      ...headersOfError(),
      content: problemContent(route, []),
    }
    return found
  }

  const published = routes.filter(({ internal }) => !internal)
  for (const route of published) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}")
    paths[path] = {
      ...paths[path],
      [route.method === "del" ? "delete" : route.method]: {
        operationId: route.id,
        summary: route.summary,
        tags: [route.group],
        ...describe(route),
        security: security(route),
        parameters: parametersOf(route, ref),
        ...(route.body && {
          requestBody: {
            required: true,
            content: {
              [route.rawBody ? "application/x-www-form-urlencoded" : "application/json"]: withExample(
                { schema: route.method === "patch" ? strict(ref(route.body)) : ref(route.body) },
                examples.operations[route.id]?.body,
              ),
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
      license: { name: "MIT", identifier: "MIT" },
      version: contractVersion,
      "x-product-version": productVersion,
    },
    servers: servers.map((url) => ({ url })),
    paths,
    components: {
      schemas,
      securitySchemes,
      headers: errorHeaders,
      examples: errorExamples(published, examples.errors),
    },
  }
}
