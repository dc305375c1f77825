import { Auditor } from "../consistency/auditor.ts"
import { type Answer, HttpLane } from "./http-lane.ts"
import type { LoadPlan } from "./lane.ts"
import type { Target } from "./request.ts"
import type { Run } from "./run.ts"
import { Tally } from "./tally.ts"
import { Window } from "./window.ts"

const expireEveryMs = 100

/**
 * A contest has rounds. In each round all contestants send the `ready` requests, then one `shoot` request at the same
 * time, and then the `leave` requests.
 */
export interface ContestPlan {
  readonly ready: readonly ((contestant: number, round: number) => Buffer)[]
  readonly shoot: (contestant: number, round: number) => Buffer
  /**
   * Judges the response to `shoot`: true for a winner, false for a loser with the expected response, undefined for
   * any other response.
   */
  readonly hasWon: (answer: Answer) => boolean | undefined
  /** Returns the expected number of winners in each round. */
  readonly winners: (contestants: number) => number
  /** Whose `shoot` times are measured: those of the losers, or those of all contestants. */
  readonly times: "losers" | "all"
  readonly leave: readonly ((contestant: number, round: number) => Buffer)[]
}

type Judge = (answer: Answer) => string | undefined

/**
 * Measures the `shoot` requests and checks the number of winners in each round. Returns the run and the number of the
 * next round.
 */
export async function runContest(
  target: Target,
  plan: ContestPlan,
  load: LoadPlan,
  serverPid: number | undefined,
  firstRound: number,
): Promise<{ readonly run: Run; readonly rounds: number }> {
  const tally = new Tally()
  const auditor = new Auditor()
  const window = new Window(serverPid)
  const contestants = load.connections
  let request: (contestant: number) => Buffer = () => Buffer.alloc(0)
  let judgeAnswer: Judge = () => undefined
  let settled: (contestant: number, error: string | undefined) => void = () => {}
  const lanes = Array.from(
    { length: contestants },
    (_, i) =>
      new HttpLane(
        i,
        target,
        { source: (contestant) => request(contestant), judge: (answer) => judgeAnswer(answer) },
        (_lane, error) => settled(i, error),
      ),
  )
  const sweep = setInterval(() => {
    for (const lane of lanes) lane.expire(performance.now(), load.timeoutSeconds * 1000)
  }, expireEveryMs)

  /** Lets all contestants send one request at the same time. Resolves when each has a response or an error. */
  const together = (
    source: (contestant: number) => Buffer,
    judge: Judge,
    done: (latencyMs: number, error: string | undefined) => void,
  ) =>
    new Promise<void>((resolve) => {
      let left = contestants
      request = source
      judgeAnswer = judge
      const startMs = performance.now()
      settled = (_, error) => {
        done(performance.now() - startMs, error)
        if (--left === 0) resolve()
      }
      for (const lane of lanes) lane.fire(startMs)
    })

  const isFine: Judge = ({ status }) => (status < 300 ? undefined : `status ${status}`)
  let round = firstRound
  let shootingMs = 0

  const play = async (isMeasured: boolean) => {
    const failed = (_: number, error: string | undefined) => {
      if (error !== undefined && isMeasured) tally.settle(0, error)
    }
    for (const step of plan.ready) await together((i) => step(i, round), isFine, failed)
    let won = 0
    let lost = false
    const startMs = performance.now()
    await together(
      (i) => plan.shoot(i, round),
      (answer) => {
        const outcome = plan.hasWon(answer)
        lost = outcome === false
        if (outcome === true) won++
        return outcome === undefined ? `status ${answer.status}` : undefined
      },
      (latencyMs, error) => {
        if (!isMeasured) return
        if (error !== undefined || lost || plan.times === "all") tally.settle(latencyMs, error)
        lost = false
      },
    )
    if (isMeasured) {
      shootingMs += performance.now() - startMs
      const most = plan.winners(contestants)
      if (won !== most) tally.settle(0, `${won} winners`)
      auditor.expect(
        won <= most,
        () => `oversell: ${won} of ${contestants} won in round ${round}, not ${most}`,
      )
    }
    for (const step of plan.leave) await together((i) => step(i, round), isFine, failed)
    round++
  }

  try {
    await play(false)
    window.open()
    const endAtMs = performance.now() + load.durationSeconds * 1000
    do await play(true)
    while (performance.now() < endAtMs)
    window.close()
    const run = { ...window.report(tally), audit: auditor.take() }
    const seconds = shootingMs / 1000
    return { run: { ...run, seconds, ratePerSecond: tally.completed / seconds }, rounds: round }
  } finally {
    clearInterval(sweep)
    for (const lane of lanes) lane.close()
  }
}
