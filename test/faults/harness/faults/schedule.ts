import { seeded } from "../../../fixtures/walk.ts"
import { catalog, type FaultName, faultNames } from "./catalog.ts"

const shortestMs = 800
const firstMs = 3_000
const leastPauseMs = 3_000
const morePauseMs = 5_000
const overlapShare = 0.15

/** A fault of the schedule: it begins `afterMs` after the one before it has ended. */
export interface Planned {
  readonly fault: FaultName
  /** The place of the process that the fault concerns. */
  readonly member: number
  readonly afterMs: number
  readonly ms: number
  /** Whether the next fault begins while this one lasts. */
  readonly overlaps: boolean
}

/**
 * Plans faults for this time. The same seed gives the same plan. Each fault comes once before any comes again. A
 * long fault lasts at most a sixth of the run.
 */
export const planFaults = (
  seed: number,
  minutes: number,
  members: number,
  names: ReadonlyArray<FaultName> = faultNames,
): ReadonlyArray<Planned> => {
  const luck = seeded(seed * 31 + 5)
  const planned: Array<Planned> = []
  let left = minutes * 60_000
  let deck: Array<FaultName> = []
  while (left > 0) {
    if (deck.length === 0) deck = [...names]
    const [fault] = deck.splice(luck.below(deck.length), 1)
    const longestMs = Math.min(catalog[fault!].longest * 1000, (minutes * 60_000) / 6)
    const ms = shortestMs + luck.below(Math.max(1, longestMs - shortestMs))
    const afterMs = planned.length === 0 ? firstMs : leastPauseMs + luck.below(morePauseMs)
    const overlaps = luck.chance(overlapShare)
    planned.push({ fault: fault!, member: luck.below(members), afterMs, ms, overlaps })
    left -= afterMs + (overlaps ? 0 : ms)
  }
  return planned
}
