import uWS, { type us_listen_socket } from "uWebSockets.js"
import { Effect } from "effect"
import { Publisher } from "../../actors/ports.ts"
import { startService } from "../../src/app.ts"
import type { ServiceOptions } from "../../src/app-layer.ts"
import { readConfig } from "../../src/config/read-config.ts"
import { mountLive } from "../../src/live/socket.ts"
import { LiveSessions } from "../../src/live/socket-sessions.ts"
import { connect, type DatabaseAddress } from "../../src/postgres/client.ts"
import { startEmbeddedPostgres } from "../../src/postgres/embedded/embedded.ts"
import { migrate } from "../../src/postgres/schema/migrate.ts"
import { Sql } from "../../src/postgres/sql.ts"
import { EventsToPlace, type Places } from "../../src/turns/event-offsets.ts"
import { machineMs } from "../machine-clock.ts"
import { PublishEndpoint } from "../publish-endpoint.ts"

// This program runs the complete service with its live endpoint and an additional endpoint that commits events. It is
// used to measure the path from the commit to the sockets. Events that are requested together share a commit, so that
// the commit rate of the database does not limit deliveries.

/**
 * The database and the Redis server that several processes share. If they are not given, the process starts its own
 * database.
 */
interface Shared {
  readonly database: DatabaseAddress
  readonly redisUrl: string
  /** One of this many wake-ups is dropped. A wake-up is a message that tells processes about a new event. */
  readonly loseEvery: number
}

const given = process.argv[2] ?? ""
const shared = given.startsWith("{") ? (JSON.parse(given) as Shared) : undefined

const environment = { HOST: "127.0.0.1", DEMO: "false", LOG_LEVEL: "Error", DRAIN_SECONDS: "5" }
const read = readConfig(
  shared === undefined
    ? { ...environment, DATA_DIR: given }
    : {
        ...environment,
        REDIS_URL: shared.redisUrl,
        SECRET_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64url")}`,
      },
)
if ("problems" in read) throw new Error(read.problems.join("\n"))

const startDatabase = async () => {
  const postgres = await startEmbeddedPostgres({ dataDir: `${given}/postgres` })
  const database = { socketDir: postgres.socketDir, port: postgres.port, database: "postgres" }
  const setup = connect({ connection: database, poolSize: 1, statementTimeoutMs: 60_000 })
  await migrate(setup)
  await setup.end()
  return { database, stop: () => postgres.stop() }
}
const { database, stop } = shared === undefined ? await startDatabase() : { ...shared, stop: async () => {} }

let wakes = 0
const isLost = () => ++wakes % (shared?.loseEvery ?? Number.POSITIVE_INFINITY) === 0
const lossy: ServiceOptions["interceptBus"] = (bus) => ({
  ...bus,
  publish: (topic, payload) => {
    if (!isLost()) bus.publish(topic, payload)
  },
  wakeOthers: (topic, payload) => {
    if (!isLost()) bus.wakeOthers(topic, payload)
  },
})
const service = await startService(
  { config: read.config, database, peersPossible: shared !== undefined, interceptBus: lossy },
  { port: 0, exclusive: true },
)
const [sessions, publisher, sql] = await service.runtime.runPromise(
  Effect.all([LiveSessions, Publisher, Sql]),
)

let events = 0
const someData = () => ({
  id: `${process.pid}-${++events}`,
  emoji_id: "🐙",
  records: [{ tag: "0x4001", data: "https://example.com/octopus" }],
})
const commit = async (channels: readonly string[]): Promise<number> => {
  const made = new EventsToPlace([
    channels.map((channel) => ({ channel, type: "emoji_id.records", data: someData() })),
  ])
  const [row] = await service.runtime.runPromise(
    sql.rows<{ places: Places }>((q) => q`select place_said(${made.json}::text::jsonb) as places`),
  )
  const at = machineMs()
  publisher.committed(made.placed(row!.places).flat())
  return at
}

let listening: us_listen_socket | undefined
const app = uWS.App()
const live = mountLive(app, { sessions, allowedOrigins: ["*"], maxSockets: 1_000_000, defect: console.error })
const publishEndpoint = new PublishEndpoint(app, commit)
app.listen("127.0.0.1", 0, (socket) => {
  listening = socket || undefined
  if (socket) process.send?.({ type: "listening", port: uWS.us_socket_local_port(socket) })
  else process.send?.({ type: "failed", reason: "cannot listen on a port" })
})

process.once("SIGTERM", async () => {
  // The program stops like the service: it accepts no new sockets, and then closes the existing ones gradually.
  if (listening !== undefined) uWS.us_listen_socket_close(listening)
  await live.drain(2000)
  while (!publishEndpoint.isIdle) await new Promise((next) => setTimeout(next, 10))
  app.close()
  await service.stop()
  await stop()
  process.exit(0)
})
