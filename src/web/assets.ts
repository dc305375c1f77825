import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, extname, join, normalize } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { projectRoot } from "../config/project-root.ts"

export interface Asset {
  readonly body: Uint8Array
  readonly type: string
  readonly hash: string
  /** The public names of the modules that this asset imports statically. Empty if it is not a script. */
  readonly imports: ReadonlyArray<string>
  /** Returns the compressed body. The body is compressed at the first call, and the result is kept. */
  compressed(encoding: "br" | "gzip"): Uint8Array
}

/**
 * The folders that contain the assets, by the prefix of their public names. `/assets/` has no subfolders:
 * `src/console/browser/parts/dom.js` is served as `/assets/console-parts-dom.js`.
 */
const folders: Readonly<Record<string, string>> = {
  "": join(projectRoot, "src/web/assets"),
  "console-": join(projectRoot, "src/console/browser"),
  "docs-": join(projectRoot, "src/docs-page/browser"),
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

/** Returns the public names of the modules that this source text imports statically. */
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
 * Matches the imports of a module. An import of `../parts/dom.js` is replaced by `./console-parts-dom.js?v=hash`, so
 * a cached module loads the modules of its own version. A dynamic `import()` may run after a newer release was
 * installed, whose modules do not work with the page. It gets `&same=yes`, for which the server sends only the
 * requested version.
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
 * Returns the names of all modules that a module imports, directly or indirectly. The page lists them, so that a
 * browser fetches them in parallel.
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
