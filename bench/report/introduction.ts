import { fixed } from "./format.ts"
import type { Method, Results } from "./results.ts"

/** Above this load per core, other programs probably took time from the measured servers. */
const busyLoadPerCore = 0.25

/** Returns a warning if the machine was busy when the bench started. */
export const loadWarningOf = ({ cores, loadAtStart = 0 }: Results["machine"]): string | undefined =>
  loadAtStart > cores * busyLoadPerCore
    ? `The load average at the start was ${fixed(loadAtStart, 2)} on ${cores} cores: other programs were running, so the figures are not suitable for publication.`
    : undefined

export function introductionOf({ at, commit, machine, method, node }: Results): string[] {
  const where = `${machine.cores} cores (${machine.cpu}), ${machine.memoryGb} GB, ${machine.platform}, Node ${node}, commit ${commit}`
  const load = machine.loadAtStart === undefined ? "" : `, load ${fixed(machine.loadAtStart, 2)} at the start`
  const warning = loadWarningOf(machine)
  return [
    `Measured ${at} on ${where}${load}. Subject and baseline took turns in one run. Each figure is the median of its windows, with the range in brackets.`,
    ...(method === undefined ? [] : ["", describe(method)]),
    ...(warning === undefined ? [] : ["", `**Warning:** ${warning}`]),
    "",
  ]
}

function describe({ name, windows, windowSeconds }: Method): string {
  const measured = `windows of ${windowSeconds} s after a warm-up, at most ${windows} per figure`
  if (name === "published")
    return `Published run: windows of ${windowSeconds} s after a warm-up, ${windows} per figure, each with a fresh start of service and database.`
  if (name === "smoke") return `Smoke test, not a measurement: ${measured}.`
  return `This is the short run: ${measured}. Figures for publication come from \`npm run bench -- --publish\`.`
}
