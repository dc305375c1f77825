import type { HarnessResult } from "../harness.ts"
import { type Invariant, invariants } from "../violations.ts"
import { faultRows } from "./recovery.ts"
import { table } from "./table.ts"

/** The report of a run, as Markdown. */
export const report = (
  result: HarnessResult,
  { processes, seed, users }: { readonly seed: number; readonly processes: number; readonly users: number },
): string => {
  const { log, ownExits, violations } = result
  const { failed, ok, unknown } = log.counts
  const numbers = Object.keys(invariants).map(Number) as ReadonlyArray<Invariant>
  const violated = (invariant: Invariant) => violations.found.filter((found) => found.invariant === invariant)
  return [
    `Seed ${seed}, ${processes} processes, ${users} users: ${ok + failed + unknown} operations (${ok} ok, ${failed} refused, ${unknown} unknown) and ${log.lookups} lookups. Processes that ended without a fault that ended them: ${ownExits.length}.`,
    "",
    table(["fault", "runs", "operations", "violations", "recovery, median", "longest"], faultRows(result)),
    "",
    table(
      ["invariant", "checks", "violations"],
      numbers.map((number) => [
        `${number}. ${invariants[number]}`,
        String(violations.checks.get(number) ?? 0),
        String(violated(number).length),
      ]),
    ),
    "",
    table(
      ["response without success", "count"],
      [...log.errors].sort(([, a], [, b]) => b - a).map(([kind, count]) => [kind, String(count)]),
    ),
    ...(violations.found.length === 0 ? [] : ["", "Violations:", ""]),
    ...violations.found
      .slice(0, 60)
      .map(({ during, invariant, what }) => `- invariant ${invariant}, during ${during}: ${what}`),
    "",
  ].join("\n")
}
