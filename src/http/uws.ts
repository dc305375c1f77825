import { createRequire } from "node:module"

/**
 * The request line and headers of one request. The library of Node 22 and 24 takes 4 KB of them unless it is told: too few
 * for a list of ids or for a sign-in with all its parameters. It looks when it is loaded, so it is loaded after this.
 */
process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(16 * 1024)

export const uWS = createRequire(import.meta.url)("uWebSockets.js") as typeof import("uWebSockets.js")
