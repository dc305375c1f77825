import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import type { buildSync, Metafile } from "esbuild"
import { projectRoot } from "../config/project-root.ts"

/** Whether this program was built by `npm run build`. */
export const isBuilt = import.meta.dirname.startsWith(join(projectRoot, "dist"))
/** A built program reads the bundles from files. It does not load the compiler, which may be missing. */
const compiler = isBuilt ? undefined : await import("esbuild")

/**
 * The style sheet of all pages, and the scripts of pages that consist of several modules. A script imports the other
 * style sheets of its pages. The name of each file contains its hash.
 */
const siteStyle = "src/web/styles/site.css"
const entries: Readonly<Record<string, string>> = {
  console: join(projectRoot, "src/console/browser/main.ts"),
  docs: join(projectRoot, "src/docs-page/browser/main.ts"),
  site: join(projectRoot, siteStyle),
}

interface Script {
  /** The name of the file that a page loads. */
  readonly file: string
  /** The files that it imports at once. A page lists them, so that a browser fetches them in parallel. */
  readonly imports: ReadonlyArray<string>
  readonly style: string | undefined
}

interface SiteStyle {
  readonly file: string
  /** The fonts that it uses. A page preloads them, so that the text does not change its font later. */
  readonly fonts: ReadonlyArray<string>
}

interface Bundles {
  readonly scripts: Readonly<Record<string, Script>>
  readonly siteStyle: SiteStyle
  readonly files: ReadonlyMap<string, Uint8Array>
}

const scriptsOf = ({ outputs }: Metafile): Bundles["scripts"] => {
  const staticImports = (path: string): ReadonlyArray<string> =>
    (outputs[path]?.imports ?? []).flatMap(({ kind, path: imported }) =>
      kind === "import-statement" ? [imported, ...staticImports(imported)] : [],
    )
  const scripts: Record<string, Script> = {}
  for (const [path, { cssBundle, entryPoint }] of Object.entries(outputs)) {
    const name = Object.keys(entries).find(
      (key) => entryPoint !== undefined && entries[key]?.endsWith(entryPoint),
    )
    if (name === undefined) continue
    const imports = [...new Set(staticImports(path).map((imported) => basename(imported)))]
    scripts[name] = { file: basename(path), imports, style: cssBundle && basename(cssBundle) }
  }
  return scripts
}

const siteStyleOf = ({ outputs }: Metafile): SiteStyle => {
  const [path, { imports }] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === siteStyle)!
  const fonts = imports.filter(({ path: imported }) => imported.endsWith(".woff2"))
  return { file: basename(path), fonts: fonts.map(({ path: font }) => basename(font)) }
}

/** Bundles the scripts and their styles. Views that are imported when they are opened have files of their own. */
const bundle = (build: typeof buildSync): Bundles => {
  const { metafile, outputFiles } = build({
    entryPoints: entries,
    absWorkingDir: projectRoot,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outdir: "/",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "text", ".woff2": "file" },
    legalComments: "none",
    metafile: true,
    write: false,
  })
  const files = new Map(outputFiles.map(({ contents, path }) => [basename(path), contents]))
  return { scripts: scriptsOf(metafile), siteStyle: siteStyleOf(metafile), files }
}

const builtFolder = join(projectRoot, "dist/bundles")
const listFile = join(builtFolder, "list.json")

/** Bundles the scripts into `dist`, for `npm start`. */
export const writeBundles = async (): Promise<void> => {
  const { buildSync } = await import("esbuild")
  const { files, ...list } = bundle(buildSync)
  rmSync(builtFolder, { recursive: true, force: true })
  mkdirSync(builtFolder, { recursive: true })
  for (const [name, body] of files) writeFileSync(join(builtFolder, name), body)
  writeFileSync(listFile, JSON.stringify({ ...list, files: [...files.keys()] }))
}

const readBuilt = (): Bundles => {
  const { files, ...list } = JSON.parse(readFileSync(listFile, "utf8")) as Omit<Bundles, "files"> & {
    readonly files: ReadonlyArray<string>
  }
  return { ...list, files: new Map(files.map((name) => [name, readFileSync(join(builtFolder, name))])) }
}

let loaded: Bundles | undefined

/** Returns the bundles. A program that runs from the source files bundles the scripts at the first call. */
export const bundles = (): Bundles => {
  loaded ??= compiler === undefined ? readBuilt() : bundle(compiler.buildSync)
  return loaded
}
