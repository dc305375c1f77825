import {
  Conflict,
  Forbidden,
  InvalidRequest,
  type ProblemClass,
  TooManyRequests,
  TwoFactorRequired,
  Unauthorized,
  Unprocessable,
} from "../../../schema/errors.ts"
import { type Route, takesKey } from "../route.ts"
import type { Examples } from "./examples.ts"
import type { Json } from "./json-schema.ts"

/** Error bodies can have more members, for example the missing scope or the state of the resource. */
const open = { type: "object", additionalProperties: true }

const problemMembers = {
  error: { type: "string" },
  code: { type: "string" },
  request_id: { type: "string" },
}

const fields = {
  type: "object",
  additionalProperties: {
    type: "array",
    items: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" } },
    },
  },
}

export const errorSchemas: Record<string, Json> = {
  Problem: { ...open, required: Object.keys(problemMembers), properties: { ...problemMembers, fields } },
  LookupProblem: { ...open, required: ["error"], properties: { error: { type: "string" } } },
  OauthProblem: {
    ...open,
    required: ["error", "error_description"],
    properties: { error: { type: "string" }, error_description: { type: "string" } },
  },
  FieldProblem: {
    ...open,
    required: [...Object.keys(problemMembers), "fields"],
    properties: { ...problemMembers, fields },
  },
}

/** Returns the errors that a route declares, and the errors of the checks before its handler. */
const problemsOf = (route: Route): ReadonlyArray<ProblemClass> => [
  InvalidRequest,
  ...(route.auth === "none" || route.auth === "optional" ? [] : [Unauthorized, Forbidden]),
  ...(route.sensitive ? [TwoFactorRequired] : []),
  ...(route.limit === undefined && !takesKey(route) ? [] : [TooManyRequests]),
  ...route.errors,
  ...(takesKey(route) ? [Conflict, Unprocessable] : []),
]

type ProblemKind = ProblemClass["kind"]

/** Groups the errors of a route by their status. The first error of a status gives its description. */
export const problemsByStatus = (route: Route): ReadonlyMap<number, ReadonlyArray<ProblemKind>> => {
  const grouped = new Map<number, Array<ProblemKind>>()
  for (const kind of new Set(problemsOf(route).map((problem) => problem.kind)))
    grouped.set(kind.status, [...(grouped.get(kind.status) ?? []), kind])
  return grouped
}

/** An example of the body of each error code that an operation answers. */
export const errorExamples = (
  routes: ReadonlyArray<Route>,
  recorded: Examples["errors"],
): Readonly<Record<string, { readonly summary: string; readonly value: unknown }>> =>
  Object.fromEntries(
    routes.flatMap(problemsOf).map(({ kind: { code, status, summary } }) => {
      const fields = status === Unprocessable.kind.status ? { fields: {} } : {}
      const value = recorded[code]?.response ?? { error: summary, code, request_id: "", ...fields }
      return [code, { summary, value }]
    }),
  )

/** The content of an error response. The examples name the error codes that the operation answers with this status. */
export const problemContent = (route: Route, kinds: ReadonlyArray<ProblemKind>): Json => {
  if (route.errorBody === "page") return { "text/html": { schema: { type: "string" } } }
  const name =
    route.errorBody === "lookup"
      ? "LookupProblem"
      : route.errorBody === "oauth"
        ? "OauthProblem"
        : kinds[0]?.status === Unprocessable.kind.status
          ? "FieldProblem"
          : "Problem"
  const examples = Object.fromEntries(
    kinds.map(({ code, summary }) => [
      code,
      route.errorBody === "lookup"
        ? { value: { error: summary } }
        : { $ref: `#/components/examples/${code}` },
    ]),
  )
  return {
    "application/json": {
      schema: { $ref: `#/components/schemas/${name}` },
      ...(kinds.length === 0 || route.errorBody === "oauth" ? {} : { examples }),
    },
  }
}
