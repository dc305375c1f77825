import { type Route, takesKey } from "../../../../src/http/route.ts"
import { routes } from "../../../../src/routes.ts"
import type { TestService } from "../../../fixtures/test-service.ts"
import { makeRequests } from "../../../security/roles/matrix-requests.ts"
import { isAllowed, makeCallers, makeWorld } from "../../../security/roles/matrix-world.ts"
import { loginFixtures } from "./login-fixtures.ts"
import type { Prepare } from "./prepared.ts"
import { shopFixtures } from "./shop-fixtures.ts"

/** A keyed request that is run with a kill and without one. */
export interface KeyedRow {
  readonly name: string
  readonly row: Route
  readonly prepare: Prepare
}

/** The callers that a request may need, the one with the fewest rights first. */
const callerNames = ["the owner", "the OrgOwner of the organization", "another user with the role Admin"]

/** Builds the request of the role matrix for the first caller that may send it. */
const fromMatrix =
  (row: Route): Prepare =>
  async (service) => {
    const requests = makeRequests(service)
    const world = await makeWorld(service)
    if (row.id === "deleteUser") await service.sql`delete from pubkey where pubkey = ${world.pubkey}`
    const callers = await makeCallers(service, world, row)
    for (const name of callerNames) {
      const caller = callers.find((known) => known.name === name)!
      const targets = await requests.targetsOf(row, world, caller)
      const target = targets.find((one) => isAllowed(row, caller, one))
      if (target === undefined) continue
      const { body, path } = target
      return { path, token: caller.user.token, ...(body === undefined ? {} : { body }) }
    }
    throw new Error(`no caller may call ${row.id}`)
  }

/** Keyed routes of HTML forms and browser sessions. A browser sends no Idempotency-Key. */
const isOfBrowsers = ({ id, produces }: Route): boolean =>
  produces === "text/html" || id === "consoleSession" || id === "oauthToken"

const overrides = { ...loginFixtures, ...shopFixtures }

/** All keyed routes, each with a request that succeeds. */
export const keyedRows = (service: TestService): ReadonlyArray<KeyedRow> => {
  const { has } = makeRequests(service)
  const keyed = routes.filter((row) => takesKey(row) && !isOfBrowsers(row))
  const rows = keyed.map((row): KeyedRow => {
    const prepare = overrides[row.id] ?? (has(row) ? fromMatrix(row) : undefined)
    if (prepare === undefined) throw new Error(`add a fixture for the keyed route ${row.id}`)
    return { name: `${methodOf(row)} ${row.path}`, row, prepare }
  })
  const checkout = routes.find(({ id }) => id === "checkout")!
  return [...rows, { name: "POST /cart/checkout (Free)", row: checkout, prepare: overrides["checkoutFree"]! }]
}

export const methodOf = ({ method }: Route): string => (method === "del" ? "DELETE" : method.toUpperCase())
