import { WrongAnswer } from "../failure.ts"
import type { Run } from "../load/run.ts"

/** Returns the run. Throws if one of its checked answers was wrong, because its figures then have no meaning. */
export function verified(run: Run, side: string, scenario: string): Run {
  const { wrong = [] } = run.audit ?? {}
  if (wrong.length > 0) throw new WrongAnswer(`wrong answer from ${side} in ${scenario}: ${wrong.join("; ")}`)
  return run
}
