import { expect, it } from "vitest"
import { serve } from "../fixtures/service.ts"
import { keyedRows } from "./harness/keyed/keyed-routes.ts"
import { keyedService, runKeyed } from "./harness/keyed/run-keyed.ts"

/** `npm run faults` runs all keyed routes this way. */
const names = [
  "POST /cart/checkout (Free)",
  "POST /transfers",
  "PATCH /emoji_id/:emoji_id",
  "POST /api_keys",
  "POST /auth/token/refresh",
]

const service = await serve({}, keyedService)
const rows = keyedRows(service)

it.each(names)(
  "%s is done once, and answers the retry as usual, if its process is killed after the commit and before the answer",
  async (name) => {
    const { faults } = await runKeyed(service, rows.find((row) => row.name === name)!)
    expect(faults).toEqual([])
  },
)
