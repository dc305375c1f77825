import { join } from "node:path"
import { Redacted } from "effect"
import { banner } from "./banner.ts"
import { type Config, readConfig } from "./config/read-config.ts"
import { readDemoItems } from "./demo/demo-item-store.ts"
import { listenProblem } from "./http/listen-problem.ts"
import type { Client, DatabaseAddress } from "./postgres/client.ts"
import { keepEmbeddedPostgres } from "./postgres/embedded/keeper.ts"
import { prepareDatabase } from "./postgres/schema/prepare-database.ts"
import { listenForStop, type StopRequests } from "./stop-requests.ts"
import { startWorkers } from "./workers.ts"

type Stop = () => Promise<void>

/**
 * Loads the service while the database starts. The parent process of workers does not serve requests, so it does not
 * load the service.
 */
const loadService = () => import("./app.ts")

const runWorker = async (config: Config, database: DatabaseAddress, requests: StopRequests) => {
  const loading = loadService()
  loading.catch(() => {})
  // The program may have been rebuilt, with new migrations, since the parent prepared the database.
  await prepareDatabase(database, config.statementTimeoutMs)
  const { startService } = await loading
  const service = await startService(
    { config, database, peersPossible: true, preparesData: config.workerFirst === "yes" },
    { port: config.port, exclusive: false },
  )
  requests.stopWith(() => service.stop())
  process.send?.("ready")
}

/**
 * Connections of a process in addition to its pool: they listen and notify on the two transports of the cluster, and
 * one is for lookups and health checks while the pool is busy.
 */
const connectionsBesidePool = 7
/** Connections that are left for command line tools. */
const connectionsOfOthers = 20
const leastConnections = 200

/**
 * The connection limit of the embedded Postgres. With a lower limit, Postgres would refuse some connections of the
 * processes under load.
 */
const maxConnections = ({ poolSize, workers }: Config): number =>
  Math.max(leastConnections, workers * (poolSize + connectionsBesidePool) + connectionsOfOthers)

const openDatabase = async (config: Config): Promise<{ address: DatabaseAddress; stop: Stop }> => {
  if (config.databaseUrl !== undefined) {
    return { address: { url: Redacted.value(config.databaseUrl) }, stop: async () => {} }
  }
  const embedded = await keepEmbeddedPostgres({
    dataDir: join(config.dataDir, "postgres"),
    flags: ["-c", `max_connections=${maxConnections(config)}`],
    ...(config.pgBin === undefined ? {} : { pgBin: config.pgBin }),
  })
  const { port, socketDir } = embedded
  return { address: { socketDir, port, database: "postgres" }, stop: () => embedded.stop() }
}

/**
 * How long a stop may take, in milliseconds: a worker drains requests, then mail, then leaves the cluster. A timer
 * allows at most `2^31 - 1`.
 */
const stopMs = ({ drainSeconds }: Config): number => Math.min(2 ** 31 - 1, (2 * drainSeconds + 20) * 1000)

/**
 * Fails if another process uses the port. Workers listen on a shared port, so a second service on it would not be
 * detected, and each would get a part of the requests. With an external database this is intended, because it is how
 * a new version replaces an old one. With the embedded database it is a mistake.
 */
const checkPortIsFree = async ({ host, port }: Config): Promise<void> => {
  const problem = await listenProblem(host, port)
  if (problem !== undefined) throw new Error(problem)
}

/** Rejects usable demo data before any process serves. Without demo data it is one query. */
const refuseDemo = (config: Config) => async (sql: Client) => {
  const left = await readDemoItems(sql)
  if (left.length > 0)
    await (await import("./demo/refuse-production-start.ts")).refuseUsableDemo(config, left)
}

const runParent = async (config: Config, program: string, requests: StopRequests) => {
  const loading = config.workers > 1 ? undefined : loadService()
  // The failure is handled below, after the database has started and can be stopped.
  loading?.catch(() => {})
  const database = await openDatabase(config)
  requests.stopWith(() => database.stop())
  try {
    await prepareDatabase(database.address, config.statementTimeoutMs, {
      serves: true,
      ...(config.production ? { check: refuseDemo(config) } : {}),
    })
    const peersPossible = config.databaseUrl !== undefined
    if (loading === undefined && !peersPossible) await checkPortIsFree(config)
    const running =
      loading === undefined
        ? await startWorkers(config.workers, program, database.address, process.env)
        : await (await loading).startService(
            { config, database: database.address, peersPossible, preparesData: true },
            { port: config.port, exclusive: true },
          )
    if (requests.isStopping()) return
    requests.stopWith(async () => {
      await running.stop(stopMs(config))
      await database.stop()
    })
    console.log(await banner(config))
  } catch (error) {
    await database.stop()
    throw error
  }
}

/** The message of an error. Our own errors may have an empty message and only a name and a cause. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || reasonOf(error.cause ?? error.name) : String(error)

/** npm sets this variable to the name of the script that it runs. */
const isStartedByNpm = (): boolean => process.env["npm_lifecycle_event"] === "start"

/** Starts the process: it serves, or starts workers that serve. A worker runs the same program. */
export const start = (program: string): void => {
  const read = readConfig()
  if ("problems" in read) {
    for (const problem of read.problems) console.error(problem)
    process.exit(1)
  }
  const { config } = read
  // npm does not forward SIGHUP or SIGKILL, so the service would continue after npm has ended.
  // It therefore also stops when its parent ends.
  const requests = listenForStop({ withParent: config.workerOf === undefined && isStartedByNpm() })
  const run =
    config.workerOf === undefined
      ? runParent(config, program, requests)
      : runWorker(config, JSON.parse(config.workerOf) as DatabaseAddress, requests)
  run.catch((error: unknown) => {
    // A stop during startup stops the database, so the startup fails. That is not an error.
    if (requests.isStopping()) return
    console.error(reasonOf(error))
    process.exit(1)
  })
}
