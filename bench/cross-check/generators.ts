import { perform, startGenerator } from "../generator.ts"
import { urlOfTarget } from "../load/request.ts"
import { type ChildMessage, startChild } from "../process/child.ts"
import { clientOf, fanOutOne, publishPathOf } from "../scenarios/fan-out.ts"
import type { RunningServer } from "../side.ts"
import type { AutocannonJob } from "./autocannon.ts"
import { type Measured, measuredOf, withServerCpu } from "./measured.ts"
import { checkedPaths, crossCheckLookups } from "./scenario.ts"
import { runWrk } from "./wrk.ts"
import type { WsCrowdJob } from "./ws-crowd.ts"

const autocannonProgram = new URL("./autocannon.ts", import.meta.url)
const wsProgram = new URL("./ws-crowd.ts", import.meta.url)
const connections = 64
const sockets = 1_000
const warmupSeconds = 2
const timeoutSeconds = 5
const slackSeconds = 120

interface MeasuredMessage extends ChildMessage {
  readonly type: "measured"
  readonly measured: Measured & { readonly operations: number }
}

interface Ready extends ChildMessage {
  readonly type: "ready"
}

/** A load generator that measures a server for some seconds. */
export interface Generator {
  readonly name: string
  /** The system program that it needs. */
  readonly needs?: string
  readonly measure: (server: RunningServer, seconds: number) => Promise<Measured>
}

const ours = (scenario: string, size: number, awake: boolean): Generator => ({
  name: "this bench",
  measure: async (server, durationSeconds) => {
    const child = startGenerator(server, scenario)
    try {
      return measuredOf(
        await perform(child, { connections: size, awake, warmupSeconds, durationSeconds, timeoutSeconds }),
      )
    } finally {
      await child.stop()
    }
  },
})

const wrk: Generator = {
  name: "wrk",
  needs: "wrk",
  measure: (server, seconds) =>
    withServerCpu(server.pid, () => runWrk(server.target, checkedPaths(), connections, seconds)),
}

const autocannon: Generator = {
  name: "autocannon",
  measure: ({ pid, target }, seconds) =>
    inChild(
      autocannonProgram,
      { url: urlOfTarget(target, ""), paths: checkedPaths(), connections, seconds },
      pid,
    ),
}

const wsCrowd: Generator = {
  name: "a client with ws",
  measure: ({ pid, target }, seconds) => {
    const { hello, helloAnswers, path } = clientOf(target, () => 0)
    const job: WsCrowdJob = {
      url: urlOfTarget(target, path).replace(/^http/, "ws"),
      hello: hello(0),
      helloAnswers,
      publishUrl: urlOfTarget(target, publishPathOf(target, 0)),
      sockets,
      seconds,
    }
    return inChild(wsProgram, job, pid)
  },
}

/**
 * Runs a generator in its own process. The CPU time of the server is counted from when the generator reports that it
 * is ready: its start can take seconds, in which the service does other work.
 */
async function inChild(
  program: URL,
  job: AutocannonJob | WsCrowdJob,
  serverPid: number | undefined,
): Promise<Measured> {
  const child = startChild(program, { args: [JSON.stringify(job)] })
  try {
    await child.next<Ready>("ready", slackSeconds)
    return await withServerCpu(serverPid, async () => {
      const limitSeconds = job.seconds + slackSeconds
      return (await child.next<MeasuredMessage>("measured", limitSeconds)).measured
    })
  } finally {
    await child.stop()
  }
}

/** The first generator of each list is the one of the bench. The others are compared with it. */
export const lookupGenerators: readonly Generator[] = [
  ours(crossCheckLookups.name, connections, true),
  wrk,
  autocannon,
]
export const fanOutGenerators: readonly Generator[] = [ours(fanOutOne.name, sockets, false), wsCrowd]
