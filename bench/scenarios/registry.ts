import type { Scenario } from "../scenario.ts"
import { fanOutMany, fanOutOne } from "./fan-out.ts"
import { cartCycle } from "./cart-cycle.ts"
import { hello } from "./hello.ts"
import {
  baselineFastify,
  baselineOnly,
  baselinePublish,
  baselineReconnect,
  baselineWrites,
} from "./self-checks.ts"

export const scenarios: readonly Scenario[] = [
  baselineOnly,
  hello,
  fanOutOne,
  fanOutMany,
  cartCycle,
  baselineFastify,
  baselineWrites,
  baselinePublish,
  baselineReconnect,
]

export const findScenario = (name: string): Scenario | undefined =>
  scenarios.find((scenario) => scenario.name === name)
