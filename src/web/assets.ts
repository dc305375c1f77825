import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, extname, join, normalize } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { projectRoot } from "../config/project-root.ts"

export interface Asset {
  readonly body: Uint8Array
  readonly type: string
  readonly hash: string
  /** Names of the modules that it imports statically. */
  readonly imports: ReadonlyArray<string>
  /** Returns the compressed body. It is compressed at the first request. */
  compressed(encoding: "br" | "gzip"): Uint8Array
}

/**
 * The folders of the assets, by the prefix of their public name. `/assets/` is flat:
 * `src/console/browser/parts/dom.js` is served as `/assets/console-parts-dom.js`.
 */
const folders: Readonly<Record<string, string>> = {
  "": join(projectRoot, "src/web/assets"),
  "console-": join(projectRoot, "src/console/browser"),
}
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

/** The modules that a module imports statically. */
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

const publicName = (prefix: string, path: string): string => prefix + path.replaceAll("/", "-")

/**
 * An import of `../parts/dom.js` becomes `./console-parts-dom.js?v=hash`, so a cached module loads the modules of its
 * own version. A module that is loaded later (`import()`) may be requested from a newer release, whose modules are
 * not compatible with this page. `same=yes` accepts only the same version.
 */
const moduleImport = /(\bfrom |\bimport\()"(\.{1,2}\/[\w/-]+\.js)"/g

const load = (prefix: string, path: string): Asset => {
  const name = publicName(prefix, path)
  const known = assets.get(name)
  if (known !== undefined) return known
  const file = readFileSync(join(folders[prefix]!, path))
  const withVersions = (_: string, before: string, to: string): string => {
    const target = normalize(join(dirname(path), to))
    const same = before === "import(" ? "&same=yes" : ""
    return `${before}"./${publicName(prefix, target)}?v=${load(prefix, target).hash}${same}"`
  }
  const body = name.endsWith(".js")
    ? Buffer.from(file.toString().replaceAll(moduleImport, withVersions))
    : file
  const asset = makeAsset(name, body)
  assets.set(name, asset)
  return asset
}

const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => extname(path) !== "")

/** Every asset is read once at startup. Its URL contains its hash, so browsers may cache it permanently. */
for (const [prefix, folder] of Object.entries(folders)) for (const path of filesIn(folder)) load(prefix, path)

export const findAsset = (name: string): Asset | undefined => assets.get(name)

export const assetUrl = (name: string): string => `/assets/${name}?v=${assets.get(name)?.hash ?? ""}`

/**
 * All modules that a module imports, directly or indirectly. Listed in the page, a browser fetches them in parallel.
 */
export const allImportsOf = (name: string): ReadonlyArray<string> => {
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
