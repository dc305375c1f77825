import { type WebSocket, WebSocketServer } from "ws"
import { reportListening } from "./listening.ts"
import { liveEvent } from "./live-event.ts"
import { publishServer } from "./publish-server.ts"

// This baseline publishes events as most people would with `ws`: a set of sockets for each channel, and a loop that
// sends the encoded event to each of them.
const channels = new Map<string, Set<WebSocket>>()

const server = publishServer((channel) => {
  const frame = JSON.stringify(liveEvent)
  for (const socket of channels.get(channel) ?? []) socket.send(frame)
})
new WebSocketServer({ server, path: "/live" }).on("connection", (socket) => {
  socket.on("message", (message) => {
    const channel = message.toString()
    const subscribers = channels.get(channel) ?? new Set()
    channels.set(channel, subscribers.add(socket))
    socket.on("close", () => subscribers.delete(socket))
    socket.send('{"type":"subscribed"}')
  })
})
reportListening(server)
