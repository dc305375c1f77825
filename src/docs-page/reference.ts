import type { openApi } from "../http/openapi.ts"
import type { LimitName } from "../http/route.ts"
import type { asyncApi } from "../live/asyncapi.ts"
import type { Operation, Shapes } from "./document.ts"

/** What the pages show. */
export interface Reference {
  readonly baseUrl: string
  readonly openApi: ReturnType<typeof openApi>
  readonly asyncApi: ReturnType<typeof asyncApi>
  /** The accounts that a visitor can try. Empty unless the service has demo data with published passwords. */
  readonly limits: {
    /** Undefined if the service does not limit requests. */
    readonly coldLookupsPerMinute: number | undefined
    /** The rate limit of each operation that has one, by its id. */
    readonly byOperation: Readonly<Record<string, LimitName>>
  }
  readonly demoLogins: ReadonlyArray<{ readonly email: string; readonly password: string }>
}

export interface ListedOperation {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

export const operationsOf = ({ openApi }: Reference): ReadonlyArray<ListedOperation> =>
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Operation,
    })),
  )

export const shapesOf = ({ openApi }: Reference): Shapes => openApi.components.schemas as Shapes

/** The groups of operations, in the order in which a new user needs them. */
const topics: ReadonlyArray<readonly [topic: string, groups: ReadonlyArray<string>]> = [
  ["Emoji ids", ["lookup", "directory", "store", "market", "prices", "interests"]],
  ["Accounts", ["authentication", "users", "api keys", "keys", "wallets", "features"]],
  ["Orders and transfers", ["cart", "orders", "codes", "transfers", "tokens", "lootboxes", "lootbox types"]],
  [
    "Partners",
    ["organizations", "oauth clients", "authorization", "partner flows", "proxy", "webhooks", "sandbox"],
  ],
]
/** The page of the live protocol shows this group. */
export const liveGroup = "live"

/** Returns the topics with the groups that exist. Groups that no topic names are in the last one. */
export const topicsOf = (reference: Reference): typeof topics => {
  const groups = [...new Set(operationsOf(reference).map(({ operation }) => operation.tags[0] ?? ""))]
  const named = new Set(topics.flatMap(([, names]) => names).concat(liveGroup))
  const others = groups.filter((group) => !named.has(group))
  return [
    ...topics.map(([topic, names]) => [topic, names.filter((name) => groups.includes(name))] as const),
    ["Operation", others] as const,
  ]
}

export const titleOf = (group: string): string =>
  `${group[0]?.toUpperCase() ?? ""}${group.slice(1)}`.replace(/api|oauth/i, (word) =>
    /api/i.test(word) ? "API" : "OAuth",
  )

export const slugOf = (group: string): string => group.replaceAll(" ", "-")

export const pageOf = ({ operation }: ListedOperation): string => `/docs/${slugOf(operation.tags[0] ?? "")}`
