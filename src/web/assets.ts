import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { projectRoot } from "../config/project-root.ts"
import { bundles, isBuilt } from "./bundles.ts"

export interface Asset {
  readonly body: Uint8Array
  readonly type: string
  readonly hash: string
  /** Whether the name contains the hash of the content, so that the same name never has another content. */
  readonly isHashed: boolean
  /** Returns the compressed body. The body is compressed at the first call, and the result is kept. */
  compressed(encoding: "br" | "gzip"): Uint8Array
}

const folder = join(projectRoot, "src/web/assets")
const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
}

const compressors = {
  br: (body: Uint8Array) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: Uint8Array) => gzipSync(body, { level: 9 }),
} as const

const makeAsset = (name: string, body: Uint8Array, isHashed: boolean): Asset => {
  const smaller = new Map<string, Uint8Array>()
  return {
    body,
    type: types[extname(name)] ?? "application/octet-stream",
    hash: createHash("sha256").update(body).digest("base64url").slice(0, 12),
    isHashed,
    compressed: (encoding) => {
      const made = smaller.get(encoding) ?? compressors[encoding](body)
      smaller.set(encoding, made)
      return made
    },
  }
}

/** Every file is read once at startup. Its URL contains its hash, so browsers may cache it permanently. */
const assets = new Map<string, Asset>(
  readdirSync(folder).map((name) => [name, makeAsset(name, readFileSync(join(folder, name)), false)]),
)

// An incomplete installation fails at startup, and not at the first page.
if (isBuilt) bundles()

export const findAsset = (name: string): Asset | undefined => {
  const known = assets.get(name)
  if (known !== undefined) return known
  const body = bundles().files.get(name)
  if (body === undefined) return undefined
  const asset = makeAsset(name, body, true)
  assets.set(name, asset)
  return asset
}

export const assetUrl = (name: string): string => `/assets/${name}?v=${assets.get(name)?.hash ?? ""}`

const bundleUrl = (file: string): string => `/assets/${file}`

interface SiteStyleUrls {
  readonly style: string
  readonly fonts: ReadonlyArray<string>
}

/** Returns the URLs of the style sheet of all pages, and of the fonts that it uses. */
export const siteStyleUrls = (): SiteStyleUrls => {
  const { file, fonts } = bundles().siteStyle
  return { style: bundleUrl(file), fonts: fonts.map(bundleUrl) }
}

interface ScriptUrls {
  readonly script: string
  readonly imports: ReadonlyArray<string>
  readonly style: string | undefined
}

/** Returns the URLs of a bundled script, of the files that it imports, and of its style sheet. */
export const scriptUrls = (name: string): ScriptUrls => {
  const script = bundles().scripts[name]
  if (script === undefined) throw new Error(`There is no script "${name}"`)
  return {
    script: bundleUrl(script.file),
    imports: script.imports.map(bundleUrl),
    style: script.style && bundleUrl(script.style),
  }
}
