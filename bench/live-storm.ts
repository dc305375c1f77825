import { setTimeout as sleep } from "node:timers/promises"
import { EmojiId } from "../schema/directory/emoji-id.ts"
import { connect } from "../src/postgres/client.ts"
import { startEmbeddedPostgres } from "../src/postgres/embedded/embedded.ts"
import { migrate } from "../src/postgres/schema/migrate.ts"
import { CrowdMember, type Sayings, verdictOf } from "../test/fixtures/live-crowd.ts"
import { makeRedis } from "../test/fixtures/servers/redis.ts"
import { installPrograms } from "../test/fixtures/suite/system-program.ts"
import { type Child, type ChildMessage, startChild, stopAllChildren } from "./process/child.ts"
import { makeDirectory, removeDirectory } from "./process/directory.ts"

// Stress test of live updates with ten thousand subscribed clients. During the test, connections are dropped at
// random, both processes are replaced one after the other, one client stops reading, Redis is stopped for 30 seconds,
// and every 100th wake-up (a message that tells processes about new events) is lost. Each client checks its events as
// they arrive. At the end every client must have received every event of its channel. Start the test with `npx tsx
// bench/live-storm.ts [sockets] [events per second] [seconds without Redis]`.

const [members = 10_000, eventsPerSecond = 200, redisDownSeconds = 30] = process.argv.slice(2).map(Number)
const channels = Array.from({ length: 200 }, (_, n) => `emoji_id:${new EmojiId([n, 1, 2]).canonical}`)
const loseEvery = 100
const reconnectsPerSecond = 100

const startedAt = performance.now()
const log = (text: string) =>
  console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}`)

await installPrograms(["redis"])
const directory = await makeDirectory()
const postgres = await startEmbeddedPostgres({ dataDir: directory })
const database = { socketDir: postgres.socketDir, port: postgres.port, database: "postgres" }
const sql = connect({ connection: database, poolSize: 2, statementTimeoutMs: 60_000 })
const redis = await makeRedis()

interface Node {
  readonly url: string
  readonly child: Child
}
const startNode = async (): Promise<Node> => {
  const program = new URL("./subjects/live-commits.ts", import.meta.url)
  const child = startChild(program, { args: [JSON.stringify({ database, redisUrl: redis.url, loseEvery })] })
  const { port } = await child.next<ChildMessage & { readonly type: "listening"; readonly port: number }>(
    "listening",
    300,
  )
  return { url: `http://127.0.0.1:${port}`, child }
}

const run = async () => {
  await migrate(sql)
  await redis.start()
  const nodes = [await startNode(), await startNode()]
  const someOf = <A>(list: ReadonlyArray<A>): A => list[Math.floor(Math.random() * list.length)]!
  const sayings: Sayings = new Map()
  log(`connecting ${members} sockets to two processes, ${channels.length} channels`)
  const crowd: Array<CrowdMember> = []
  while (crowd.length < members) {
    for (let n = 0; n < 200 && crowd.length < members; n++) {
      crowd.push(
        new CrowdMember([channels[crowd.length % channels.length]!], () => someOf(nodes).url, sayings),
      )
    }
    await sleep(100)
  }
  const waitFor = async (what: string, holds: () => boolean) => {
    for (let tries = 0; !holds(); tries++) {
      if (tries > 1200) throw new Error(`${what} took too long`)
      await sleep(100)
    }
  }
  await waitFor("connecting", () => crowd.every((member) => member.isReady))

  let isRunning = true
  let committed = 0
  let refused = 0
  const writer = async () => {
    while (isRunning) {
      const path = `/publish/${encodeURIComponent(someOf(channels))}`
      const done = await fetch(`${someOf(nodes).url}${path}`, { method: "POST" }).then(
        (response) => response.ok,
        () => false,
      )
      if (done) committed++
      else refused++
      await sleep((1000 * 20 * 2 * Math.random()) / eventsPerSecond)
    }
  }
  const writers = Array.from({ length: 20 }, writer)
  const breaker = (async () => {
    while (isRunning) {
      for (let n = 0; n < reconnectsPerSecond / 10; n++) someOf(crowd).drop()
      await sleep(100)
    }
  })()
  log(`${eventsPerSecond} events per second, ${reconnectsPerSecond} dropped connections per second`)
  await sleep(5000)
  crowd[0]?.pause()
  for (let n = 0; n < 2; n++) {
    nodes.push(await startNode())
    log("started a process, stopping another")
    await nodes.shift()?.child.stop()
    await sleep(2000)
  }
  log(`stopping Redis for ${redisDownSeconds} s`)
  await redis.stop()
  await sleep(redisDownSeconds * 1000)
  await redis.start()
  await sleep(5000)
  isRunning = false
  await Promise.all([...writers, breaker])
  crowd[0]?.resume()
  log(`load stopped: ${committed} events committed, ${refused} requests to a stopped process failed`)

  const rows = await sql<Array<{ name: string; offset: number }>>`select name, "offset" from channel`
  const heads = new Map<string, number>(channels.map((name) => [name, 0]))
  for (const { name, offset } of rows) heads.set(name, offset)
  await waitFor("delivery of all events", () => crowd.every((member) => member.isAt(heads)))
  const verdict = verdictOf(crowd)
  const events = await sql<Array<{ place: string; id: string }>>`
    select channel || ' ' || "offset" as place, data->>'id' as id from event`
  const delivered = events.filter(({ id, place }) => sayings.get(place) === id).length
  for (const member of crowd) member.stop()
  log(`every client is up to date: ${delivered} of ${events.length} events delivered as committed`)
  log(JSON.stringify(verdict))
  if (verdict.faults.length > 0 || delivered !== events.length || sayings.size !== events.length)
    process.exitCode = 1
}

try {
  await run()
} finally {
  await stopAllChildren()
  await redis.stop()
  await sql.end()
  await postgres.stop()
  await removeDirectory(directory)
}
process.exit()
