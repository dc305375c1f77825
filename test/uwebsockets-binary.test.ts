import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"

/**
 * The authors do not publish uWebSockets.js on npm, so we install a package that someone else publishes. These are the
 * git blob ids of the same files in the authors' repository: tag v20.41.0 for Node 20, v20.64.0 for Node 22 and 24.
 */
const official: Record<string, string> = {
  "uws_linux_arm64_115.node": "00e7dc77cc85869b938aa5178bc81b6d6e5e6f75",
  "uws_linux_x64_115.node": "168adfd82c04f7e63f179e036585735091ed9a64",
  "uws_linux_arm64_127.node": "ff5f1ef1ae63b3e9479952ad254781fbebd0d237",
  "uws_linux_x64_127.node": "b381f645971d726b4427aac361b7be70298e6087",
  "uws_linux_arm64_137.node": "3fcb57df2de492cdf74e7fe82a91c81a136062b4",
  "uws_linux_x64_137.node": "217a773841bbd49b412b53d7ad11937b9e99f627",
}

const folder = dirname(createRequire(import.meta.url).resolve("uWebSockets.js"))
const blobId = (file: string) => {
  const bytes = readFileSync(join(folder, file))
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex")
}

describe("the uWebSockets.js binary", () => {
  it("that this machine loads is one of the files that this test verifies", () => {
    expect(Object.keys(official)).toContain(`uws_linux_${process.arch}_${process.versions.modules}.node`)
  })
  it.each(Object.entries(official))("%s is identical to the file in the authors' repository", (file, id) => {
    expect(blobId(file)).toBe(id)
  })
})
