import { beforeAll, expect, it } from "vitest"
import { takesKey } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { accountRequests } from "./keyed-routes/account-requests.ts"
import { apiKeyRequests } from "./keyed-routes/api-key-requests.ts"
import { directoryRequests } from "./keyed-routes/directory-requests.ts"
import { type Prepare, repeatAfterLoss } from "./keyed-routes/keyed-request.ts"
import { lootboxRequests } from "./keyed-routes/lootbox-requests.ts"
import { orderRequests } from "./keyed-routes/order-requests.ts"
import { organizationRequests } from "./keyed-routes/organization-requests.ts"

const requests: Record<string, Prepare> = {
  ...accountRequests,
  ...apiKeyRequests,
  ...directoryRequests,
  ...lootboxRequests,
  ...orderRequests,
  ...organizationRequests,
}
const keyed = routes.filter(takesKey).map(({ id }) => id)

let service: TestService
beforeAll(async () => {
  // Tests change entities in the database, which a service notices only if other processes are possible.
  service = await serve({}, { peersPossible: true })
})

it("every route that takes an Idempotency-Key is tested here", () => {
  // A name can be followed by a case of the route, as in "checkout, Free".
  const tested = new Set(Object.keys(requests).map((name) => name.split(",")[0]!))
  expect([...tested].sort()).toEqual([...keyed].sort())
})

it.each(Object.entries(requests))(
  "%s: a retry gets the same response and changes nothing when the first response was lost after the commit",
  async (_, prepare) => {
    await repeatAfterLoss(service, await prepare(service))
  },
)
