import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { buildSync, type Metafile } from "esbuild"
import { projectRoot } from "../config/project-root.ts"

/**
 * The scripts of pages that consist of several modules, by name. A script imports the style sheet of its pages. The
 * name of each file contains its hash.
 */
const entries: Readonly<Record<string, string>> = {
  console: join(projectRoot, "src/console/browser/main.ts"),
  docs: join(projectRoot, "src/docs-page/browser/main.ts"),
}

interface Script {
  /** The name of the file that a page loads. */
  readonly file: string
  /** The files that it imports at once. A page lists them, so that a browser fetches them in parallel. */
  readonly imports: ReadonlyArray<string>
  readonly style: string | undefined
}

interface Bundles {
  readonly scripts: Readonly<Record<string, Script>>
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

/** Bundles the scripts and their styles. Views that are imported when they are opened have files of their own. */
const bundle = (): Bundles => {
  const { metafile, outputFiles } = buildSync({
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
    loader: { ".woff2": "file" },
    legalComments: "none",
    metafile: true,
    write: false,
  })
  const files = new Map(outputFiles.map(({ contents, path }) => [basename(path), contents]))
  return { scripts: scriptsOf(metafile), files }
}

const builtFolder = join(projectRoot, "dist/bundles")
const listFile = join(builtFolder, "scripts.json")

/** Bundles the scripts into `dist`, for `npm start`. */
export const writeBundles = (): void => {
  const { files, scripts } = bundle()
  rmSync(builtFolder, { recursive: true, force: true })
  mkdirSync(builtFolder, { recursive: true })
  for (const [name, body] of files) writeFileSync(join(builtFolder, name), body)
  writeFileSync(listFile, JSON.stringify({ scripts, files: [...files.keys()] }))
}

const readBuilt = (): Bundles => {
  const { files, scripts } = JSON.parse(readFileSync(listFile, "utf8")) as {
    readonly files: ReadonlyArray<string>
    readonly scripts: Bundles["scripts"]
  }
  return { scripts, files: new Map(files.map((name) => [name, readFileSync(join(builtFolder, name))])) }
}

/** Whether this program was built by `npm run build`. */
export const isBuilt = import.meta.dirname.startsWith(join(projectRoot, "dist"))
let loaded: Bundles | undefined

/** Returns the bundles. A program that runs from the source files bundles the scripts at the first call. */
export const bundles = (): Bundles => {
  loaded ??= isBuilt ? readBuilt() : bundle()
  return loaded
}
