import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { buildSync } from "esbuild"

const root = join(import.meta.dirname, "../../..")
const source = join(root, "src/client")
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
  execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", config], {
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  console.log(packClient(join(root, "dist/client")))
