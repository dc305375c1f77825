import { createServer } from "node:http"
import express from "express"
import pg from "pg"
import { openDatabase, poolSize } from "./database.ts"
import { reportListening } from "./listening.ts"
import { storeLookups } from "./lookup-table.ts"

// This baseline is the lookup service that most people would write first: Express with `pg`, both with their default
// settings, and one select by key per request.
const database = await openDatabase(process.argv[2] ?? "")
await storeLookups(database.connect(1))

const pool = new pg.Pool({ ...database.address, max: poolSize })
// Postgres closes idle connections when it stops. Without a listener, this error would end the process.
pool.on("error", () => {})

const app = express()
app.get("/emoji_id/:id", async (request, response) => {
  const { rows } = await pool.query<{ answer: unknown }>("select answer from lookup where emoji_id = $1", [
    request.params.id,
  ])
  const [row] = rows
  if (row === undefined) response.status(404).json({ error: "not found" })
  else response.json(row.answer)
})
reportListening(createServer(app))
