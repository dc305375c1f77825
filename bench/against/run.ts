import { startProgress } from "../report/progress.ts"
import { describeWorkingTree, findCommit } from "./checkout.ts"
import type { AgainstFlags } from "./flags.ts"
import { estimatePairsSeconds, measurePairs } from "./measure.ts"
import { compareRuns, describeComparison, hasLoss } from "./report.ts"

/**
 * Measures and prints the comparison. Returns the exit code: 1 if the working tree is slower beyond noise or if too
 * many of its operations fail, otherwise 0.
 */
export async function runAgainst(flags: AgainstFlags): Promise<number> {
  const commit = await findCommit(flags.ref)
  const names = { ours: `this tree (${await describeWorkingTree()})`, theirs: commit.label }
  const progress = startProgress(process.stderr, estimatePairsSeconds(flags))
  try {
    const comparison = compareRuns(await measurePairs(commit, names, flags, progress.step), names)
    progress.end()
    console.log(describeComparison(comparison, names))
    return hasLoss(comparison) ? 1 : 0
  } finally {
    progress.end()
  }
}
