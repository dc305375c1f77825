import fastify from "fastify"
import { canonicalAt } from "../stored/ids.ts"
import { openDatabase, poolSize } from "./database.ts"
import { lookupAnswer } from "./lookup-answer.ts"

// This baseline is a typical lookup service: a router, a connection pool, and one select by key per request.
const rows = 100_000

const database = await openDatabase(process.argv[2] ?? "")
const sql = database.connect(poolSize)
await sql`create unlogged table lookup (emoji_id text primary key, answer jsonb not null)`
await sql`
  insert into lookup select unnest(${Array.from({ length: rows }, (_, n) => canonicalAt(n))}::text[]),
                            ${sql.json(lookupAnswer)}`
await sql`vacuum analyze lookup`

const server = fastify()
server.get<{ Params: { id: string } }>("/emoji_id/:id", async (request, reply) => {
  const [row] = await sql`select answer from lookup where emoji_id = ${request.params.id}`
  if (row === undefined) return reply.code(404).send({ error: "not found" })
  return row["answer"]
})
await server.listen({ host: "127.0.0.1", port: 0 })

const address = server.server.address()
process.send?.({ type: "listening", port: typeof address === "object" ? address?.port : undefined })
