import fastify from "fastify"
import { openDatabase } from "./database.ts"

// What most services of this kind are: a router, a pool, and a select by key for every request.
const rows = 100_000

const database = await openDatabase(process.argv[2] ?? "")
await database.sql`create unlogged table lookup (id text primary key, data jsonb not null)`
await database.sql`
  insert into lookup
  select 'k' || n, jsonb_build_array(jsonb_build_object('tag', '0x4001', 'data', 'https://example.com/' || n))
  from generate_series(0, ${rows - 1}::int) n`
await database.sql`vacuum analyze lookup`

const server = fastify()
server.get<{ Params: { id: string } }>("/emoji_id/:id", async (request, reply) => {
  const [row] = await database.sql`select id, data from lookup where id = ${request.params.id}`
  if (row === undefined) return reply.code(404).send({ error: "not found" })
  return { emoji_id: row["id"], result: row["data"] }
})
await server.listen({ host: "127.0.0.1", port: 0 })

const address = server.server.address()
process.send?.({ type: "listening", port: typeof address === "object" ? address?.port : undefined })
