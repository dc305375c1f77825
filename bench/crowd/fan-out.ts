import type { Histogram } from "hdr-histogram-js"
import { type Answer, HttpLane } from "../load/http-lane.ts"
import type { Lane, LoadPlan, Settle } from "../load/lane.ts"
import { runLoop } from "../load/loop.ts"
import type { Target } from "../load/request.ts"
import type { Run } from "../load/run.ts"
import { latencyOf, newHistogram, record } from "../load/tally.ts"
import { Window } from "../load/window.ts"
import { machineMs } from "../machine-clock.ts"
import { Crowd, type CrowdPlan } from "./crowd.ts"
import { Rounds } from "./rounds.ts"

const joinWithinSeconds = 60
const expireEveryMs = 100
const machineIsAheadMs = machineMs() - performance.now()

export interface FanOutPlan extends CrowdPlan {
  /** Socket i listens to channel i % channels, and round r is published to channel r % channels. */
  readonly channels: number
  /** Number of concurrent rounds, so that the server does not wait for the slowest reader of a round. */
  readonly publishers: number
  /** The request that causes a publication: to a `PublishEndpoint`, or any write that publishes an event. */
  readonly trigger: (round: number) => Buffer
  /**
   * Measures deliveries from the request. By default they are measured from the commit time of the `PublishEndpoint`.
   */
  readonly timedFrom?: "request"
}

/** Measures deliveries: rate, time since the commit, and server cost of each. */
export async function runFanOut(
  target: Target,
  plan: FanOutPlan,
  load: LoadPlan,
  serverPid: number | undefined,
): Promise<Run> {
  const deliveries = newHistogram()
  const rounds = new Rounds(load.connections, plan.channels)
  const lanes = new Map<number, PublishLane>()
  const shared: Shared = { target, plan, rounds, lanes, deliveries }
  const crowd = new Crowd(load.connections, target, plan, (socket, atMs) => {
    const delivered = rounds.deliver(socket)
    if (delivered === undefined) return
    lanes.get(delivered.round)?.delivered(atMs, delivered.isLast)
  })
  const sweep = setInterval(() => {
    for (const lane of lanes.values()) lane.expire(performance.now(), load.timeoutSeconds * 1000)
  }, expireEveryMs)
  try {
    if (!(await crowd.join(joinWithinSeconds))) {
      throw new Error(
        `only ${crowd.ready} of ${crowd.size} sockets connected: ${JSON.stringify(crowd.errors)}`,
      )
    }
    const window = new Window(serverPid, () => deliveries.reset())
    const run = await runLoop({ ...load, connections: plan.publishers }, window, (index, settle) =>
      newPublishLane(index, shared, settle),
    )
    return perDelivery(run, crowd.size / plan.channels, deliveries, crowd.errors)
  } finally {
    clearInterval(sweep)
    crowd.leave()
  }
}

interface PublishLane extends Lane {
  delivered(atMs: number, isLast: boolean): void
  expire(nowMs: number, timeoutMs: number): void
}

/** State shared by all publishers of a run. */
interface Shared {
  readonly target: Target
  readonly plan: FanOutPlan
  readonly rounds: Rounds
  /** Lanes by their current round. */
  readonly lanes: Map<number, PublishLane>
  readonly deliveries: Histogram
}

/** A lane that is busy from the trigger until the last socket of the channel has received its frame. */
function newPublishLane(
  index: number,
  { deliveries, lanes, plan, rounds, target }: Shared,
  settle: Settle,
): PublishLane {
  let round = 0
  let committedAtMs: number | undefined
  /** Arrival times of frames that arrived before the response to their trigger. */
  const early: number[] = []
  const readCommitTime = ({ body }: Answer): boolean => {
    const reportedMs = Number(body.toString())
    if (plan.timedFrom === undefined && !(reportedMs > 0)) return false
    const since = plan.timedFrom === undefined ? reportedMs - machineIsAheadMs : lane.intendedAtMs
    committedAtMs = since
    for (const atMs of early) record(deliveries, atMs - since)
    early.length = 0
    return true
  }
  const finish = (error: string | undefined) => {
    if (!lanes.delete(round)) return
    settle(lane, error)
  }
  // The response to the trigger can arrive before or after the last delivery. The round needs both.
  let missing = 0
  const done = () => {
    if (--missing === 0) finish(undefined)
  }
  const traffic = { source: () => plan.trigger(round), check: readCommitTime }
  const http = new HttpLane(index, target, traffic, (_, error) => {
    if (error === undefined) done()
    else finish(error)
  })
  const lane: PublishLane = {
    intendedAtMs: 0,
    fire: (intendedAtMs) => {
      lane.intendedAtMs = intendedAtMs
      round = rounds.begin()
      missing = 2
      committedAtMs = undefined
      early.length = 0
      lanes.set(round, lane)
      http.fire(intendedAtMs)
    },
    delivered: (atMs, isLast) => {
      if (committedAtMs === undefined) early.push(atMs)
      else record(deliveries, atMs - committedAtMs)
      if (isLast) done()
    },
    expire: (nowMs, timeoutMs) => {
      http.expire(nowMs, timeoutMs)
      if (nowMs - lane.intendedAtMs <= timeoutMs) return
      rounds.resync()
      finish("timeout")
    },
    close: () => http.close(),
  }
  return lane
}

function perDelivery(run: Run, audience: number, deliveries: Histogram, errors: Record<string, number>): Run {
  return {
    ...run,
    completed: run.completed * audience,
    ratePerSecond: run.ratePerSecond * audience,
    latency: latencyOf(deliveries),
    errors: { ...run.errors, ...errors },
    ...(run.server && {
      server: {
        ...run.server,
        cpuMicrosPerOperation: run.server.cpuMicrosPerOperation / audience,
        databaseCpuMicrosPerOperation: run.server.databaseCpuMicrosPerOperation / audience,
      },
    }),
  }
}
