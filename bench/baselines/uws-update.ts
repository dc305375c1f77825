import uWS from "uWebSockets.js"
import { openUpdatedTable } from "./updated-table.ts"

// This baseline is the lower limit for the latency of a write: an HTTP request that runs one UPDATE by primary key, and
// answers after its commit.
const update = await openUpdatedTable(process.argv[2] ?? "")

uWS
  .App()
  .post("/update", (res) => {
    let isAborted = false
    res.onAborted(() => {
      isAborted = true
    })
    const answer = (isDone: boolean) => {
      if (isAborted) return
      res.cork(() => {
        if (isDone) res.writeHeader("content-type", "application/json").end('["updated"]')
        else res.writeStatus("500 Internal Server Error").end()
      })
    }
    update().then(answer, () => answer(false))
  })
  .listen("127.0.0.1", 0, (socket) => {
    if (socket) process.send?.({ type: "listening", port: uWS.us_socket_local_port(socket) })
    else process.send?.({ type: "failed", reason: "cannot listen on a port" })
  })
