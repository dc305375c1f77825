import { createRequire } from "node:module"

/**
 * The maximum size of a request line with its headers. The library for Node 22 and 24 defaults to 4 KB, which is too
 * small for a list of ids or for a sign-in with all its parameters. It reads the variable when it is loaded, so it is
 * loaded below.
 */
process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(16 * 1024)

/** Loads the library. Its own error names unsupported versions of Node even if the cause is an old glibc. */
const load = (): typeof import("uWebSockets.js") => {
  try {
    return createRequire(import.meta.url)("uWebSockets.js")
  } catch (error) {
    const [, missing] = /GLIBC_([\d.]+)' not found/.exec(String(error)) ?? []
    if (missing === undefined) throw error
    throw new Error(
      `with Node ${process.versions.node} uWebSockets.js requires glibc ${missing}, which this system does not have: ` +
        "use Node 20, or a newer system (Debian 13, Ubuntu 24.04)",
    )
  }
}

export const uWS = load()
