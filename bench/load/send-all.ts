import { BenchFailure } from "../failure.ts"
import { HttpLane } from "./http-lane.ts"
import type { Target } from "./request.ts"

const connections = 128
const timeoutMs = 30_000
const expireEveryMs = 500

/**
 * Sends requests 0 to `count` - 1 once each over many connections, to prepare data before a measurement. Rejects if
 * one of them fails.
 */
export async function sendAll(
  target: Target,
  count: number,
  requestAt: (n: number) => Buffer,
  statuses?: readonly number[],
): Promise<void> {
  let sent = 0
  let settled = 0
  const lanes: HttpLane[] = []
  let sweep: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      let current = 0
      const next = (lane: HttpLane) => {
        if (sent === count) return
        current = sent++
        lane.fire(0)
      }
      for (let i = 0; i < Math.min(connections, count); i++) {
        const lane: HttpLane = new HttpLane(
          i,
          target,
          { source: () => requestAt(current), statuses },
          (_, error) => {
            if (error !== undefined) return reject(new BenchFailure(`preparing ${target.side}: ${error}`))
            if (++settled === count) resolve()
            else next(lane)
          },
        )
        lanes.push(lane)
      }
      sweep = setInterval(() => {
        for (const lane of lanes) lane.expire(performance.now(), timeoutMs)
      }, expireEveryMs)
      for (const lane of lanes) next(lane)
      if (count === 0) resolve()
    })
  } finally {
    clearInterval(sweep)
    for (const lane of lanes) lane.close()
  }
}
