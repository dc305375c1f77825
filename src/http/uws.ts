import { createRequire } from "node:module"

/**
 * The request line and headers of one request. The library of Node 22 and 24 takes 4 KB of them unless it is told: too few
 * for a list of ids or for a sign-in with all its parameters. It looks when it is loaded, so it is loaded after this.
 */
process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(16 * 1024)

/** The library says which versions of Node it supports, also where it was the system that could not load it. */
const load = (): typeof import("uWebSockets.js") => {
  try {
    return createRequire(import.meta.url)("uWebSockets.js")
  } catch (error) {
    const [, missing] = /GLIBC_([\d.]+)' not found/.exec(String(error)) ?? []
    if (missing === undefined) throw error
    throw new Error(
      `with Node ${process.versions.node} the native server needs glibc ${missing}, which this system does not have: take Node 20, or a newer system (Debian 13, Ubuntu 24.04)`,
    )
  }
}

export const uWS = load()
