import uWS from "uWebSockets.js"
import { machineMs } from "../machine-clock.ts"
import { PublishEndpoint } from "../publish-endpoint.ts"
import { liveEvent } from "./live-event.ts"

// This baseline is the upper limit for live updates. It only publishes a prepared frame to the subscribers of a
// topic.
const frame = JSON.stringify(liveEvent)

const app = uWS.App()
new PublishEndpoint(app, (channels) => {
  const at = machineMs()
  for (const channel of channels) app.publish(channel, frame)
  return at
})
app
  .ws("/live", {
    idleTimeout: 120,
    maxPayloadLength: 64 * 1024,
    maxBackpressure: 1024 * 1024,
    closeOnBackpressureLimit: 1,
    message: (ws, message) => {
      ws.subscribe(Buffer.from(message).toString())
      ws.send('{"type":"subscribed"}')
    },
  })
  .listen("127.0.0.1", 0, (socket) => {
    if (socket) process.send?.({ type: "listening", port: uWS.us_socket_local_port(socket) })
    else process.send?.({ type: "failed", reason: "cannot listen on a port" })
  })
