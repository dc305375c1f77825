import fastify from "fastify"
import { openDatabase, poolSize } from "./database.ts"
import { reportListening } from "./listening.ts"
import { storeLookups } from "./lookup-table.ts"

// This baseline is a typical lookup service: a router, a connection pool, and one select by key per request.
const database = await openDatabase(process.argv[2] ?? "")
const sql = database.connect(poolSize)
await storeLookups(sql, Number(process.argv[3]))

const server = fastify()
server.get<{ Params: { id: string } }>("/emoji_id/:id", async (request, reply) => {
  const [row] = await sql`select answer from lookup where emoji_id = ${request.params.id}`
  if (row === undefined) return reply.code(404).send({ error: "not found" })
  return row["answer"]
})
await server.ready()
reportListening(server.server)
