import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { projectRoot } from "../project-root.ts"

export interface Asset {
  readonly body: Uint8Array
  readonly type: string
  readonly hash: string
}

const folder = join(projectRoot, "src/web/assets")
const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
}

/** Files of ours that pages load, read once. Their names carry a hash, so browsers may keep them for ever. */
const assets: ReadonlyMap<string, Asset> = new Map(
  readdirSync(folder).map((name) => {
    const body = readFileSync(join(folder, name))
    const hash = createHash("sha256").update(body).digest("base64url").slice(0, 12)
    return [name, { body, type: types[extname(name)] ?? "application/octet-stream", hash }]
  }),
)

export const findAsset = (name: string): Asset | undefined => assets.get(name)

export const assetUrl = (name: string): string => `/assets/${name}?v=${assets.get(name)?.hash ?? ""}`
