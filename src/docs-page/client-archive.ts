import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { Effect, Schema } from "effect"
import { NotFound } from "../../schema/errors.ts"
import { projectRoot } from "../config/project-root.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { isBuilt } from "../web/bundles.ts"

const file = join(projectRoot, "dist/client/client.tgz")
const builder = join(projectRoot, "src/client/package/build.ts")

interface Archive {
  readonly body: Uint8Array
  readonly etag: string
}

/** Reads the archive. Undefined if this installation has none. */
const load = async (): Promise<Archive | undefined> => {
  // A program that runs from the source files builds the archive, in another process because the build takes seconds.
  if (!isBuilt)
    await promisify(execFile)(process.execPath, ["--import", "tsx", builder], { cwd: projectRoot })
  if (!existsSync(file)) return undefined
  const body = await readFile(file)
  return { body, etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 12)}"` }
}

let loading: Promise<Archive | undefined> | undefined
/** The archive is loaded once. After a failure, the next request tries again. */
const archive = Effect.promise(() => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
})

export const clientArchive = route({
  id: "clientArchive",
  group: "operations",
  summary: "Get the package of the client, for npm install",
  method: "get",
  path: "/client.tgz",
  auth: "none",
  internal: true,
  headers: ["if-none-match"],
  success: Schema.Unknown,
  produces: "application/gzip",
  errors: [NotFound],
  handler: ({ headers }) =>
    Effect.flatMap(archive, (found) => {
      if (found === undefined)
        return new NotFound({ error: "This installation was built without the package of the client." })
      const shared = { ETag: found.etag, "Cache-Control": "no-cache" }
      return Effect.succeed(
        headers["if-none-match"] === found.etag
          ? Reply.empty(304, shared)
          : Reply.raw(found.body, { ...shared, "Content-Type": "application/gzip" }),
      )
    }),
})
