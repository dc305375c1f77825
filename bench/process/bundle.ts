import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { buildSync } from "esbuild"

const root = fileURLToPath(new URL("../../", import.meta.url))
const made = new Map<string, URL>()

const once = (key: string, make: () => URL): URL => {
  const known = made.get(key)
  if (known !== undefined) return known
  const fresh = make()
  made.set(key, fresh)
  return fresh
}

/**
 * Bundles a program to plain JavaScript and returns its address. With a TypeScript loader the program would be
 * slower: to keep the names of functions, the loader adds code to every closure.
 */
export const bundleProgram = (source: URL): URL =>
  once(source.href, () => {
    const file = fileURLToPath(source)
    const outfile = `${root}dist/${relative(root, file).replaceAll("..", "_").replace(/\.ts$/, ".js")}`
    buildSync({
      entryPoints: [file],
      outfile,
      bundle: true,
      packages: "external",
      platform: "node",
      target: "node20",
      format: "esm",
      logLevel: "warning",
    })
    return pathToFileURL(outfile)
  })

/** The built program of the service, and the Node flags to start it with. */
export interface Build {
  readonly program: URL
  readonly nodeFlags: readonly string[]
}

/**
 * Builds the service that `npm start` runs, and returns the address of its program. It is built only once, at the
 * first call.
 */
export const buildService = (): URL =>
  once("service", () => {
    execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
    return pathToFileURL(`${root}dist/main.js`)
  })

/** Returns the Node flags of the `start` script in package.json. */
export const serviceNodeFlags = (): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    scripts: { start: string }
  }
  return scripts.start.split(" ").filter((word) => word.startsWith("--"))
}
