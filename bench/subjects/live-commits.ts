import uWS, { type HttpResponse } from "uWebSockets.js"
import { Effect } from "effect"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import { startService } from "../../src/app.ts"
import { readConfig } from "../../src/config.ts"
import { LiveSessions } from "../../src/live/sessions.ts"
import { mountLive } from "../../src/live/socket.ts"
import { startEmbeddedPostgres } from "../../src/store/embedded.ts"
import { migrate } from "../../src/store/migrate.ts"
import { connect, Sql } from "../../src/store/sql.ts"

// The live socket of the whole service, with a door beside it that commits an event: what is measured is the way from the
// commit to the sockets. Events that are asked for while a commit runs share the next, so that the database's commits per
// second are not what limits deliveries.

const directory = process.argv[2] ?? ""
const read = readConfig({ HOST: "127.0.0.1", DATA_DIR: directory, DEMO: "false", LOG_LEVEL: "Error" })
if ("problems" in read) throw new Error(read.problems.join("\n"))
const postgres = await startEmbeddedPostgres({ dataDir: `${directory}/postgres` })
const database = { socketDir: postgres.socketDir, port: postgres.port, database: "postgres" }
const setup = connect({ connection: database, poolSize: 1, statementTimeoutMs: 60_000 })
await migrate(setup)
await setup.end()
const service = await startService(
  { config: read.config, database, peersPossible: false },
  { port: 0, exclusive: true },
)
const [sessions, publisher, sql] = await service.runtime.runPromise(
  Effect.all([LiveSessions, Publisher, Sql]),
)

const data = { emoji_id: "🐙", records: [{ tag: "0x4001", data: "https://example.com/octopus" }] }
let waiting: Array<{ readonly channel: string; readonly res: HttpResponse }> = []
let isCommitting = false

const commitWaiting = async (): Promise<void> => {
  if (isCommitting) return
  isCommitting = true
  while (waiting.length > 0) {
    const batch = waiting
    waiting = []
    const events = batch.map(({ channel }) => ({ channel, type: "emoji_id.records", data }))
    const [row] = await service.runtime.runPromise(
      sql.rows<{ given: ReadonlyArray<ChannelPosition> }>(
        (q) => q`select put_events(${JSON.stringify(events)}::text::jsonb) as given`,
      ),
    )
    publisher.committed(row?.given ?? [])
    for (const { res } of batch) res.cork(() => res.end("{}"))
  }
  isCommitting = false
}

const app = uWS.App()
mountLive(app, { sessions, allowedOrigins: ["*"], maxSockets: 1_000_000, defect: console.error })
app
  .post("/publish/:channel", (res, req) => {
    const channel = decodeURIComponent(req.getParameter(0) ?? "")
    res.onAborted(() => {
      waiting = waiting.filter((one) => one.res !== res)
    })
    waiting.push({ channel, res })
    void commitWaiting()
  })
  .listen("127.0.0.1", 0, (socket) => {
    if (socket) process.send?.({ type: "listening", port: uWS.us_socket_local_port(socket) })
    else process.send?.({ type: "failed", reason: "no port to listen on" })
  })

process.once("SIGTERM", async () => {
  app.close()
  await service.stop()
  await postgres.stop()
  process.exit(0)
})
