import type { Histogram } from "hdr-histogram-js"
import type { Auditor } from "../consistency/auditor.ts"
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
  /**
   * The number of channels. Socket i listens to channel i % channels, and round r is published to channel r %
   * channels.
   */
  readonly channels: number
  /**
   * The number of concurrent rounds. With several rounds, the server has work while one round waits for its slowest
   * reader.
   */
  readonly publishers: number
  /**
   * Returns the request that causes the publication of a round. It goes to a `PublishEndpoint`, or it is any write
   * that publishes an event.
   */
  readonly trigger: (round: number) => Buffer
  /**
   * If set, delivery times are measured from the time at which the request should be sent. By default they are
   * measured from the commit time that the `PublishEndpoint` returns.
   */
  readonly timedFrom?: "request"
  /** Set if `inspect` checks a part of the deliveries for consistency. */
  readonly auditor?: Auditor
}

/**
 * Publishes events to many sockets. Measures the rate of deliveries, the time of each delivery, and the server's CPU
 * time per delivery.
 */
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
    const counted = perDelivery(run, crowd.size / plan.channels, deliveries, crowd.errors)
    return plan.auditor === undefined ? counted : { ...counted, audit: plan.auditor.take() }
  } finally {
    clearInterval(sweep)
    crowd.leave()
  }
}

interface PublishLane extends Lane {
  delivered(atMs: number, isLast: boolean): void
  expire(nowMs: number, timeoutMs: number): void
}

/** The state that all publishers of a run share. */
interface Shared {
  readonly target: Target
  readonly plan: FanOutPlan
  readonly rounds: Rounds
  /** The lanes with an open round, by the number of that round. */
  readonly lanes: Map<number, PublishLane>
  readonly deliveries: Histogram
}

/**
 * Returns a lane that publishes one round at a time. It is busy until the response to the trigger and the frames of
 * all sockets of the channel have arrived.
 */
function newPublishLane(
  index: number,
  { deliveries, lanes, plan, rounds, target }: Shared,
  settle: Settle,
): PublishLane {
  let round = 0
  let committedAtMs: number | undefined
  /**
   * The arrival times of frames that arrived before the response to their trigger. The response contains the commit
   * time, so these deliveries are recorded when it arrives.
   */
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
  // A round ends after the response to its trigger and after its last delivery, which can happen in any order.
  // `missing` counts how many of the two have not happened yet.
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
