import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { buildSync } from "esbuild"

const root = join(import.meta.dirname, "../../..")
const source = join(root, "src/client")
const compiler = join(root, "node_modules/.bin/tsc")
const entries = ["client.ts", "rxjs.ts"].map((name) => join(source, name))

const manifest = () => {
  const { license, version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return {
    name: "emoji-id-directory-client",
    version,
    description: "The client of the Emoji Id Directory Service: typed calls and live updates.",
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: {
      ".": { types: "./types/client.d.ts", default: "./client.js" },
      "./rxjs": { types: "./types/rxjs.d.ts", default: "./rxjs.js" },
    },
    peerDependencies: { rxjs: "^7.8.0" },
    peerDependenciesMeta: { rxjs: { optional: true } },
  }
}

/** Writes the types of the client. The compiler keeps the ending `.ts` in imports, which a package cannot have. */
const writeTypes = (target: string): void => {
  const config = join(target, "tsconfig.json")
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    types: [],
    rootDir: source,
    outDir: join(target, "types"),
  }
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, files: entries, include: [] }),
  )
  execFileSync(compiler, ["-p", config], {
    stdio: ["ignore", "inherit", "inherit"],
  })
  rmSync(config)
  for (const name of readdirSync(join(target, "types"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts")) continue
    const file = join(target, "types", name)
    const text = readFileSync(file, "utf8").replaceAll(/(from|import\() ?"(\.[\w./-]+)\.ts"/g, '$1 "$2.js"')
    writeFileSync(file, text)
  }
}

/** Builds the package of the client and packs it. Returns the path of the archive, which `npm install` accepts. */
export const packClient = (target: string): string => {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  buildSync({
    entryPoints: entries,
    bundle: true,
    splitting: true,
    external: ["rxjs"],
    platform: "neutral",
    target: "es2022",
    format: "esm",
    outdir: target,
    chunkNames: "shared-[hash]",
  })
  writeTypes(target)
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`)
  copyFileSync(join(source, "package/README.md"), join(target, "README.md"))
  copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"))
  const name = execFileSync("npm", ["pack", "--silent", "--ignore-scripts"], {
    cwd: target,
    encoding: "utf8",
  })
  return join(target, name.trim().split("\n").at(-1)!)
}

const folder = join(root, "dist/client")
const archive = join(folder, "client.tgz")
/** The hash of the files from which the archive was built. */
const stamp = join(folder, "inputs.txt")

const inputsHash = (): string => {
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.\w+$/.test(name),
  )
  const files = names.toSorted().map((name) => join(source, name))
  const hash = createHash("sha256").update(JSON.stringify(manifest()))
  for (const file of [...files, join(root, "LICENSE"), join(root, "tsconfig.json")])
    hash.update(readFileSync(file))
  return hash.digest("hex")
}

/**
 * Builds the archive that the service serves as /client.tgz, unless it is built from the same files already. The
 * compiler takes seconds, and `npm start` calls this at every start. Several processes may call it at the same time, so
 * the archive is written completely before it gets its name. Returns false if the compiler is not installed: it is not
 * in an installation for production only.
 */
const buildArchive = (): boolean => {
  const inputs = inputsHash()
  if (existsSync(archive) && existsSync(stamp) && readFileSync(stamp, "utf8") === inputs) return true
  if (!existsSync(compiler)) return false
  mkdirSync(folder, { recursive: true })
  const target = mkdtempSync(join(folder, "build-"))
  try {
    renameSync(packClient(target), archive)
    writeFileSync(stamp, inputs)
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
  return true
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (!buildArchive())
    console.warn(
      "/client.tgz is not served: its build needs the compiler. Run `npm install` with all packages.",
    )
}
