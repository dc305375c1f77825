import { disturbanceOf, isDisturbed, lateAboveMs, latenessOf } from "./disturbance.ts"
import { failedShareOf, isFailing } from "./failing.ts"
import { fixed, whole } from "./format.ts"
import { isGeneratorLimited } from "./generator-limit.ts"
import type { Results } from "./results.ts"
import { spreadOf } from "./spread.ts"

/** Returns warnings about figures that are not valid or exceed a limit. */
export function notesOf(results: Results): string[] {
  const found = new Set<string>()
  for (const { name, sides, rssLimitMb } of results.scenarios) {
    const rss = spreadOf(sides[0]?.peak.flatMap((run) => run.server?.rssMb ?? []) ?? []).max
    if (rssLimitMb !== undefined && rss > rssLimitMb)
      found.add(`${name}: RSS ${whole(rss)} MB is above ${rssLimitMb} MB ✗`)
    for (const side of sides) {
      const runs = side.peak.length > 0 ? side.peak : side.atRate
      if (isFailing(runs)) {
        const percent = fixed(failedShareOf(runs) * 100, 0)
        found.add(
          `${name}, ${side.name}: ${percent} % of the operations failed, so its figures are not valid ✗`,
        )
      }
      if (isDisturbed(runs)) {
        const cores = fixed(disturbanceOf(runs), 1)
        found.add(
          `${name}, ${side.name}: other programs used up to ${cores} cores, so rates are too low and only CPU ratios are valid`,
        )
      }
      const lateMs = latenessOf(side.atRate)
      if (lateMs > lateAboveMs) {
        found.add(
          `${name}, ${side.name}: the generator itself sent up to ${whole(lateMs)} ms late, so the latencies at a constant rate are too high`,
        )
      }
      if (isGeneratorLimited(side.peak)) {
        found.add(
          `${name}, ${side.name}: the generator was the limit, not the server; only the ratio of CPU time is valid`,
        )
      }
    }
  }
  return found.size === 0 ? [] : ["", ...[...found].map((note) => `- ${note}`)]
}
