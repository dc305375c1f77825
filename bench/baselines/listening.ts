import type { Server } from "node:http"

/** Listens on a free port and reports it to the bench. */
export const reportListening = (server: Server): void => {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    process.send?.({ type: "listening", port: typeof address === "object" ? address?.port : undefined })
  })
}
