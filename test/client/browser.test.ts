import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"

/** The entry for applications that use RxJS, which they install themselves. */
const allowed: Readonly<Record<string, string>> = { "rxjs.ts": "rxjs" }

const isOwn = (file: string, to: string): boolean =>
  to.startsWith(".") && !join(dirname(file), to).startsWith("..")

it("the client imports only its own files and uses no Node globals, so that it runs in a browser", () => {
  const files = readdirSync("src/client", { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.startsWith("package/"),
  )
  expect(files.length).toBeGreaterThan(20)
  const offences = files.flatMap((file) => {
    const source = readFileSync(`src/client/${file}`, "utf8")
    const loaded = [...source.matchAll(/^(?:import|export) (?!type )[^"=;()]*?from "([^"]+)"/gm)].map(
      ([, to = ""]) => to,
    )
    const foreign = loaded.filter((to) => !isOwn(file, to) && allowed[file] !== to)
    const globals = /\b(process|Buffer|require)\b/.test(source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""))
    return [...foreign.map((to) => `${file}: ${to}`), ...(globals ? [`${file}: a global of Node`] : [])]
  })
  expect(offences).toEqual([])
})
