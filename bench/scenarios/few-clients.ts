import { buildRequest } from "../load/request.ts"
import type { RequestScenario } from "../scenario.ts"
import { bareUpdates } from "../side.ts"
import { recordEdit } from "./accounts.ts"
import { cartCycle } from "./carts.ts"
import { transfers } from "./transfers.ts"

const updates = bareUpdates()

/**
 * A scenario with so few connections that statements are not shared: its latency is that of the work itself. The
 * baseline is an HTTP request that runs one UPDATE.
 */
function atFew<Precomputed>(
  { sweep: _, ...scenario }: RequestScenario<Precomputed>,
  connections: number,
): RequestScenario<Precomputed> {
  const name = `${scenario.name}-${connections}`
  return {
    ...scenario,
    name,
    summary: `${scenario.name} with ${connections === 1 ? "one connection" : `${connections} connections`}: the latency of a write`,
    onRequest: true,
    connections,
    against: [{ side: updates, firstWarmupSeconds: 5, aims: [{ metric: "p50", atMost: 2 }] }],
    requests: (target, prepared) => {
      if (target.side !== updates.name) return scenario.requests(target, prepared)
      const request = buildRequest(target, { method: "POST", path: "/update" })
      return () => request
    },
  }
}

export const fewClients = [1, 8].flatMap((connections) => [
  atFew(recordEdit, connections),
  atFew(cartCycle, connections),
  atFew(transfers, connections),
])
