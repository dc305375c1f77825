import uWS from "uWebSockets.js"
import { fork } from "node:child_process"
import { lookupAnswer } from "./lookup-answer.ts"

// This baseline is the upper limit for requests. It is uWebSockets.js with one route that reads its parameter and
// returns fixed JSON.
const body = JSON.stringify(lookupAnswer)
/**
 * The number of processes, and the port that they share. The kernel distributes the connections over the processes.
 */
const [processes = 1, port = 0] = process.argv.slice(2).map(Number)

const app = uWS.App().get("/emoji_id/:id", (res, req) => {
  if (req.getParameter(0) === "") res.writeStatus("400 Bad Request").end()
  else res.writeHeader("content-type", "application/json").end(body)
})

const onListening = (socket: uWS.us_listen_socket | false) => {
  if (socket === false) return process.send?.({ type: "failed", reason: "cannot listen on a port" })
  const report = () => process.send?.({ type: "listening", port })
  if (processes === 1) return report()
  return fork(process.argv[1]!, [String(processes - 1), String(port)]).once("message", report)
}

// This signature of `listen` exists in the library, but not in its types.
type Listen = (host: string, port: number, options: number, done: typeof onListening) => void
const listen = app.listen.bind(app) as unknown as Listen
listen("127.0.0.1", port, 0, onListening)
