import { spawn } from "node:child_process"
import fastify from "fastify"
import { Redis } from "ioredis"
import { findFreePort } from "../process/port.ts"
import { openDatabase, poolSize } from "./database.ts"
import { reportListening } from "./listening.ts"
import { lookupAnswer } from "./lookup-answer.ts"
import { storedIds, storeLookups } from "./lookup-table.ts"

// This baseline is the usual next step: Fastify with `postgres`, and a Redis server that keeps each answer for an hour.
const keptSeconds = 3600
const filledTogether = 10_000

const database = await openDatabase(process.argv[2] ?? "")
const sql = database.connect(poolSize)
await storeLookups(sql)

const port = await findFreePort()
const cacheServer = spawn(
  "redis-server",
  ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
  { stdio: "ignore" },
)
process.on("exit", () => cacheServer.kill("SIGKILL"))
const redis = new Redis({ host: "127.0.0.1", port, maxRetriesPerRequest: null })
// While Redis starts, the connection is refused and repeated.
redis.on("error", () => {})

const keyOf = (id: string): string => `lookup:${id}`

// All answers are in the cache from the start, as the service has all ids in memory when it is measured.
const body = JSON.stringify(lookupAnswer)
const ids = storedIds()
for (let from = 0; from < ids.length; from += filledTogether) {
  const pipeline = redis.pipeline()
  for (const id of ids.slice(from, from + filledTogether)) pipeline.set(keyOf(id), body, "EX", keptSeconds)
  await pipeline.exec()
}

const server = fastify()
server.get<{ Params: { id: string } }>("/emoji_id/:id", async (request, reply) => {
  const { id } = request.params
  const cached = await redis.get(keyOf(id))
  if (cached !== null) return reply.type("application/json").send(cached)
  const [row] = await sql`select answer from lookup where emoji_id = ${id}`
  if (row === undefined) return reply.code(404).send({ error: "not found" })
  const answer = JSON.stringify(row["answer"])
  await redis.set(keyOf(id), answer, "EX", keptSeconds)
  return reply.type("application/json").send(answer)
})
await server.ready()
reportListening(server.server)
