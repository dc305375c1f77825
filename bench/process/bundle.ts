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

/** A program as plain JavaScript: a loader would keep every function's name at run time, which costs each closure made. */
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

/** A program to run as the service, and what Node is started with. */
export interface Build {
  readonly program: URL
  readonly nodeFlags: readonly string[]
}

/** The service as `npm start` runs it, built once per bench. */
export const buildService = (): URL =>
  once("service", () => {
    execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
    return pathToFileURL(`${root}dist/main.js`)
  })

/** What `npm start` tells Node about the service. */
export const serviceNodeFlags = (): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    scripts: { start: string }
  }
  return scripts.start.split(" ").filter((word) => word.startsWith("--"))
}
