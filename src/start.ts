import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { Redacted } from "effect"
import { banner } from "./banner.ts"
import { type Config, readConfig } from "./config/config.ts"
import { readDemoItems } from "./demo/demo-item-store.ts"
import { keepEmbeddedPostgres } from "./postgres/embedded/keeper.ts"
import { prepareDatabase } from "./postgres/prepare-database.ts"
import type { Client, DatabaseAddress } from "./postgres/sql.ts"
import { listenForStop, type StopRequests } from "./stop-requests.ts"
import { startWorkers } from "./workers.ts"

type Stop = () => Promise<void>

/** By those who serve, and while the database starts: one that only keeps workers is spared most of the program. */
const loadService = () => import("./app.ts")

const runWorker = async (config: Config, database: DatabaseAddress, requests: StopRequests) => {
  const loading = loadService()
  loading.catch(() => {})
  // The program may have been built anew since its parent prepared the database.
  await prepareDatabase(database, config.statementTimeoutMs)
  const { startService } = await loading
  const service = await startService(
    { config, database, peersPossible: true, preparesData: config.workerFirst === "yes" },
    { port: config.port, exclusive: false },
  )
  requests.stopWith(() => service.stop())
  process.send?.("ready")
}

/** Besides its pool a process listens and notifies on two wires of the bus; a command line comes and goes. */
const connectionsBesidePool = 6
const connectionsOfOthers = 20
const leastConnections = 200

/** As many as all processes together may open, or the last of them would be refused under load. */
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

/** A worker drains twice, requests and then letters, and takes its leave. No more than a timer can wait. */
const stopMs = ({ drainSeconds }: Config): number => Math.min(2 ** 31 - 1, (2 * drainSeconds + 20) * 1000)

/**
 * Workers share their port with whoever else does so: another service, too, of which callers would be answered by turns.
 * With a database that others may use that is how one version follows another; with one of our own it is a mistake.
 */
const checkPortIsFree = async ({ host, port }: Config): Promise<void> => {
  const probe = createServer().listen(port, host)
  try {
    await once(probe, "listening")
  } catch {
    throw new Error(`port ${port} on ${host} is in use or not allowed`)
  }
  probe.close()
  await once(probe, "close")
}

/** Before any process serves. On a database without demo data it is one query. */
const refuseDemo = (config: Config) => async (sql: Client) => {
  const left = await readDemoItems(sql)
  if (left.length > 0)
    await (await import("./demo/refuse-production-start.ts")).refuseUsableDemo(config, left)
}

const runParent = async (config: Config, program: string, requests: StopRequests) => {
  const loading = config.workers > 1 ? undefined : loadService()
  // Told of below, when the database that is being started can be stopped again.
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

/** Errors of our own may say all they know by their name and cause. */
const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || reasonOf(error.cause ?? error.name) : String(error)

/** npm names the script it runs. */
const isStartedByNpm = (): boolean => process.env["npm_lifecycle_event"] === "start"

/** Serves, or keeps the workers that do, each of which is the program run again. */
export const start = (program: string): void => {
  const read = readConfig()
  if ("problems" in read) {
    for (const problem of read.problems) console.error(problem)
    process.exit(1)
  }
  const { config } = read
  // npm ends without passing SIGHUP or SIGKILL on, and would leave the service behind.
  const requests = listenForStop({ withParent: config.workerOf === undefined && isStartedByNpm() })
  const run =
    config.workerOf === undefined
      ? runParent(config, program, requests)
      : runWorker(config, JSON.parse(config.workerOf) as DatabaseAddress, requests)
  run.catch((error: unknown) => {
    // A stop takes the database away from a start that is under way, so that the start fails.
    if (requests.isStopping()) return
    console.error(reasonOf(error))
    process.exit(1)
  })
}
