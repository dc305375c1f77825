import { comparedScenarios } from "../against/scenarios.ts"
import { crossCheckLookups } from "../cross-check/scenario.ts"
import { overloadLookups, overloadWrites } from "../overload/scenarios.ts"
import type { Scenario } from "../scenario.ts"
import { authenticatedRead, logins, recordEdit } from "./accounts.ts"
import { cartContended, cartCycle, cartGrowth } from "./carts.ts"
import { fanOutMany, fanOutOne } from "./fan-out.ts"
import { fewClients } from "./few-clients.ts"
import { hello } from "./hello.ts"
import {
  lookupBatch,
  lookupCold,
  lookupHot,
  lookupMillion,
  lookupMiss,
  lookupRandom,
  lookupTags,
} from "./lookups.ts"
import { mixed } from "./mixed.ts"
import {
  baselineFastify,
  baselineOnly,
  baselinePublish,
  baselineReconnect,
  baselineWrites,
} from "./self-checks.ts"
import { lookupSigned } from "./signed-lookups.ts"
import { idleSockets, reconnectStorm } from "./sockets.ts"
import { transfers } from "./transfers.ts"
import { workers, workersEach } from "./workers.ts"

export const scenarios: readonly Scenario[] = [
  baselineOnly,
  lookupRandom,
  lookupMillion,
  workers,
  authenticatedRead,
  recordEdit,
  cartCycle,
  cartContended,
  fanOutOne,
  fanOutMany,
  idleSockets,
  hello,
  lookupHot,
  lookupCold,
  lookupMiss,
  lookupTags,
  lookupSigned,
  lookupBatch,
  workersEach,
  cartGrowth,
  transfers,
  ...fewClients,
  logins,
  mixed,
  reconnectStorm,
  baselineFastify,
  baselineWrites,
  baselinePublish,
  baselineReconnect,
]

export const findScenario = (name: string): Scenario | undefined =>
  [...scenarios, ...comparedScenarios, overloadWrites, overloadLookups, crossCheckLookups].find(
    (scenario) => scenario.name === name,
  )
