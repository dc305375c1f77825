import uWS from "uWebSockets.js"
import { lookupAnswer } from "./lookup-answer.ts"

// The ceiling: what uWebSockets.js gives when a route does no more than read its parameter and answer a fixed JSON.
const body = JSON.stringify(lookupAnswer)

uWS
  .App()
  .get("/emoji_id/:id", (res, req) => {
    if (req.getParameter(0) === "") res.writeStatus("400 Bad Request").end()
    else res.writeHeader("content-type", "application/json").end(body)
  })
  .listen("127.0.0.1", 0, (socket) => {
    if (socket) process.send?.({ type: "listening", port: uWS.us_socket_local_port(socket) })
    else process.send?.({ type: "failed", reason: "no port to listen on" })
  })
