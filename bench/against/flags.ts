import { UsageError } from "../failure.ts"
import { readNumber } from "../flag-readers.ts"
import type { Scenario } from "../scenario.ts"
import { leastPairs } from "./verdict.ts"

export interface AgainstFlags {
  readonly ref: string
  readonly scenarios: readonly Scenario[]
  readonly pairs: number
  readonly seconds: number
}

export const againstDefaults = { pairs: 8, seconds: 1.5 }

/** The flags of `--against`, as given on the command line. */
export interface AgainstValues {
  readonly against?: string | undefined
  readonly only?: readonly string[] | undefined
  readonly pairs?: string | undefined
  readonly seconds?: string | undefined
}

/**
 * Reads the flags of `--against`. Returns undefined if `--against` is not given. `others` are the names of given
 * flags that cannot be combined with `--against`.
 */
export function readAgainst(
  values: AgainstValues,
  others: readonly string[],
  all: readonly Scenario[],
): AgainstFlags | undefined {
  const { against, only, pairs, seconds } = values
  if (against === undefined) {
    const [stray] = Object.entries({ only, pairs, seconds }).filter(([, value]) => value !== undefined)
    if (stray !== undefined) throw new UsageError(`--${stray[0]} needs --against`)
    return undefined
  }
  if (others[0] !== undefined) throw new UsageError(`--${others[0]} cannot be used with --against`)
  return {
    ref: against,
    scenarios: only === undefined ? all : only.map((name) => find(name, all)),
    pairs: readNumber("--pairs", pairs, leastPairs, 100, true) ?? againstDefaults.pairs,
    seconds: readNumber("--seconds", seconds, 0.1, 600, false) ?? againstDefaults.seconds,
  }
}

function find(name: string, all: readonly Scenario[]): Scenario {
  const found = all.find((scenario) => scenario.name === name)
  if (found !== undefined) return found
  throw new UsageError(`--only must be one of ${all.map((one) => one.name).join(", ")}, not "${name}"`)
}
