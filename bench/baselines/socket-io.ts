import { Server } from "socket.io"
import { reportListening } from "./listening.ts"
import { liveEvent } from "./live-event.ts"
import { publishServer } from "./publish-server.ts"

// This baseline publishes events to rooms of socket.io. A client names its room when it connects.
const server = publishServer((channel) => io.to(channel).emit("event", liveEvent))
const io = new Server(server, { path: "/live", serveClient: false, transports: ["websocket"] })
io.on("connection", async (socket) => {
  await socket.join(String(socket.handshake.auth["channel"]))
})
reportListening(server)
