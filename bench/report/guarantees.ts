import { tableOf } from "./format.ts"
import type { Results } from "./results.ts"

/** Returns a table of what the service guarantees and its opponents do not. It is empty if nothing differs. */
export function guaranteesOf({ scenarios }: Results): string[] {
  const lacking = new Map(
    scenarios.flatMap(({ sides }) => sides.flatMap(({ lacks, name }) => (lacks ? [[name, lacks]] : []))),
  )
  if (lacking.size === 0) return []
  return ["", ...tableOf(["side", "guarantees of the service that it lacks"], [...lacking])]
}
