import { createRequire } from "node:module"

/**
 * Sets the maximum size of a request line with its headers. The library for Node 22 and 24 defaults to 4 KB, which is
 * too small for a list of ids or for a sign-in with all its parameters. The library reads this variable when it is
 * loaded, so the library must be loaded after this line.
 */
process.env["UWS_HTTP_MAX_HEADERS_SIZE"] ??= String(16 * 1024)

/**
 * Loads the library. If the glibc of the system is too old, this function throws a clear error. The error of the
 * library itself would say that the version of Node is not supported.
 */
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
