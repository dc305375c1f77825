import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { projectRoot } from "../config/project-root.ts"

export interface Asset {
  readonly body: Uint8Array
  readonly type: string
  readonly hash: string
  /** Names of the modules it cannot run without. */
  readonly imports: ReadonlyArray<string>
  /** The body smaller, by the name of the encoding; made when first asked for. */
  compressed(encoding: "br" | "gzip"): Uint8Array
}

const folder = join(projectRoot, "src/web/assets")
const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
}

const compressors = {
  br: (body: Uint8Array) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body: Uint8Array) => gzipSync(body, { level: 9 }),
} as const

const importedBy = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/\bfrom "\.\/([\w-]+\.js)/g)].map(([, name = ""]) => name)

const makeAsset = (name: string, body: Buffer): Asset => {
  const smaller = new Map<string, Uint8Array>()
  return {
    body,
    type: types[extname(name)] ?? "application/octet-stream",
    hash: createHash("sha256").update(body).digest("base64url").slice(0, 12),
    imports: name.endsWith(".js") ? importedBy(body.toString()) : [],
    compressed: (encoding) => {
      const made = smaller.get(encoding) ?? compressors[encoding](body)
      smaller.set(encoding, made)
      return made
    },
  }
}

const assets = new Map<string, Asset>()

/**
 * `./other.js` in a module becomes `./other.js?v=hash`: whoever keeps a module for ever keeps the ones it was written with.
 * One that is loaded later may be asked of a newer release, whose modules know nothing of the page: only the same will do.
 */
const moduleImport = /(\bfrom |\bimport\()"\.\/([\w-]+\.js)"/g

const load = (name: string): Asset => {
  const known = assets.get(name)
  if (known !== undefined) return known
  const file = readFileSync(join(folder, name))
  const body = name.endsWith(".js")
    ? Buffer.from(
        file
          .toString()
          .replaceAll(
            moduleImport,
            (_, before: string, to: string) =>
              `${before}"./${to}?v=${load(to).hash}${before === "import(" ? "&same=yes" : ""}"`,
          ),
      )
    : file
  const asset = makeAsset(name, body)
  assets.set(name, asset)
  return asset
}

/** Files of ours that pages load, read once. Their names carry a hash, so browsers may keep them for ever. */
for (const name of readdirSync(folder)) load(name)

export const findAsset = (name: string): Asset | undefined => assets.get(name)

export const assetUrl = (name: string): string => `/assets/${name}?v=${assets.get(name)?.hash ?? ""}`

/** Every module a module needs, itself left out: a browser told of them all at once fetches them all at once. */
export const modulesBehind = (name: string): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (module: string) => {
    for (const imported of assets.get(module)?.imports ?? []) {
      if (found.has(imported)) continue
      found.add(imported)
      visit(imported)
    }
  }
  visit(name)
  return [...found]
}
