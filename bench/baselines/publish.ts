import uWS from "uWebSockets.js"
import { machineMs } from "../machine-clock.ts"
import { PublishEndpoint } from "../publish-endpoint.ts"

// This baseline is the upper limit for live updates. It only publishes a prepared frame to the subscribers of a
// topic.
const event = JSON.stringify({
  type: "event",
  channel: "emoji_id:🐙",
  offset: 1,
  event: "emoji_id.records",
  data: { emoji_id: "🐙", records: [{ tag: "0x4001", data: "https://example.com/octopus" }] },
  at: "2026-01-01T00:00:00.000Z",
})

const app = uWS.App()
new PublishEndpoint(app, (channels) => {
  const at = machineMs()
  for (const channel of channels) app.publish(channel, event)
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
