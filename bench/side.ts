import type { DatabaseAddress } from "../src/postgres/client.ts"
import type { Target } from "./load/request.ts"
import { type Child, type ChildMessage, startChild } from "./process/child.ts"
import { makeDirectory, removeDirectory } from "./process/directory.ts"
import { findFreePort } from "./process/port.ts"

/** A baseline that stores a million rows takes most of this time on a busy machine. */
const startWithinSeconds = 240

export interface RunningServer {
  /** The address of the server. The port can change with a restart. */
  readonly target: Target
  /**
   * The process id of the server, or undefined for a server that the bench did not start. It changes with a restart.
   */
  readonly pid?: number
  /**
   * The database of the service. `database` and `secretKeys` are undefined for a baseline, and for a deployment if
   * the command line does not set them.
   */
  readonly database?: DatabaseAddress
  readonly secretKeys?: string
  /** Stops the server and starts it again on the same data. Undefined if the server cannot be restarted. */
  readonly restart?: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** A server that receives its load over the network from the generator process. */
export interface ServerSide {
  readonly kind: "server"
  readonly name: string
  /** Whether this side is the service. With `--url`, a deployment can be measured in its place. */
  readonly isService: boolean
  /** What the service guarantees and this server does not, for the report. */
  readonly lacks?: string
  /** A program that must be installed. Without it, the side is not measured. */
  readonly needs?: string
  /** Set if every request uses a database. */
  readonly usesDatabase?: true
  readonly start: () => Promise<RunningServer>
}

/**
 * A program that generates and measures its own load. It is used for work that needs no network, such as database
 * statements.
 */
export interface DriverSide {
  readonly kind: "driver"
  readonly name: string
  readonly lacks?: string
  readonly start: () => Promise<Child>
}

export type Side = ServerSide | DriverSide

interface Listening extends ChildMessage {
  readonly type: "listening"
  readonly port: number
}

interface Ready extends ChildMessage {
  readonly type: "ready"
}

function baseline(
  name: string,
  program: URL,
  needsDirectory = false,
  findArgs: () => Promise<readonly number[]> = async () => [],
): ServerSide {
  return {
    kind: "server",
    name,
    isService: false,
    start: async () => {
      const start = async () => {
        const child = await startProgram(program, needsDirectory, await findArgs())
        const { port } = await orStop(child, child.next<Listening>("listening", startWithinSeconds))
        return { child, port }
      }
      let running = await start()
      return {
        get target() {
          return { side: name, host: "127.0.0.1", port: running.port, tls: false, basePath: "" }
        },
        get pid() {
          return running.child.pid
        },
        // A server with a database is not restarted, because its data would have to be stored again.
        ...(needsDirectory
          ? {}
          : {
              restart: async () => {
                await running.child.stop()
                running = await start()
              },
            }),
        stop: () => running.child.stop(),
      }
    },
  }
}

/** Starts a program. A program with a database gets its own directory, which is removed when the program stops. */
async function startProgram(
  program: URL,
  needsDirectory: boolean,
  args: readonly number[] = [],
): Promise<Child> {
  if (!needsDirectory) return startChild(program, { args: args.map(String) })
  const directory = await makeDirectory()
  const child = startChild(program, { args: [directory, ...args.map(String)] })
  return {
    ...child,
    stop: async () => {
      await child.stop()
      await removeDirectory(directory)
    },
  }
}

async function orStop<A>(child: Child, started: Promise<A>): Promise<A> {
  try {
    return await started
  } catch (error) {
    await child.stop()
    throw error
  }
}

export const bareUws = (name = "bare uWebSockets.js", processes = 1): ServerSide => ({
  ...baseline(name, new URL("./baselines/uws.ts", import.meta.url), false, async () => [
    processes,
    await findFreePort(),
  ]),
  lacks: "everything: it always sends the same answer and stores nothing",
})

export const barePublish = (name = "bare publish"): ServerSide => ({
  ...baseline(name, new URL("./baselines/publish.ts", import.meta.url)),
  lacks: "everything except publishing: it always sends the same frame and stores nothing",
})

/** The service's live endpoint, together with an HTTP endpoint that commits events. */
export const liveCommits = (name = "live"): ServerSide =>
  baseline(name, new URL("./subjects/live-commits.ts", import.meta.url), true)

const anyLookup = "authentication and roles, validation of the id, view counts, history, live updates"

export const fastifyPostgres = (name = "Fastify with postgres", ids = 100_000): ServerSide => ({
  ...baseline(name, new URL("./baselines/fastify-postgres.ts", import.meta.url), true, async () => [ids]),
  usesDatabase: true,
  lacks: anyLookup,
})

export const expressPg = (): ServerSide => ({
  ...baseline("Express with pg", new URL("./baselines/express-pg.ts", import.meta.url), true),
  usesDatabase: true,
  lacks: anyLookup,
})

export const fastifyRedis = (): ServerSide => ({
  ...baseline("Fastify with Redis", new URL("./baselines/fastify-redis.ts", import.meta.url), true),
  usesDatabase: true,
  needs: "redis-server",
  lacks: `freshness (an answer can be an hour old), monotonic versions, reading your own writes; ${anyLookup}`,
})

const anyFanOut =
  "a commit before the event, offsets, resume after a reconnect, events of other processes, permissions of channels"

export const plainWs = (): ServerSide => ({
  ...baseline("ws", new URL("./baselines/ws.ts", import.meta.url)),
  lacks: `${anyFanOut}, a limit for slow readers`,
})

export const socketIo = (): ServerSide => ({
  ...baseline("socket.io", new URL("./baselines/socket-io.ts", import.meta.url)),
  lacks: `${anyFanOut}, a limit for slow readers`,
})

export const bareUpdates = (name = "bare uWebSockets.js with one update"): ServerSide => ({
  ...baseline(name, new URL("./baselines/uws-update.ts", import.meta.url), true),
  usesDatabase: true,
  lacks: "authentication, validation, events, history: it only updates one row by its key",
})

export const singleStatementWrites = (name = "bare single-statement writes"): DriverSide => ({
  kind: "driver",
  name,
  lacks: "requests, authentication, validation, events, history: it only updates one row by its key",
  start: async () => {
    const child = await startProgram(new URL("./baselines/single-statement.ts", import.meta.url), true)
    await orStop(child, child.next<Ready>("ready", startWithinSeconds))
    return child
  },
})
