import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

/** The entry for applications that use RxJS, which they install themselves. */
const allowed: Readonly<Record<string, string>> = { "rxjs.ts": "rxjs" }

it("the client imports only its own files and uses no Node globals, so that it runs in a browser", () => {
  const files = readdirSync("src/client").filter((file) => file.endsWith(".ts"))
  const offences = files.flatMap((file) => {
    const source = readFileSync(`src/client/${file}`, "utf8")
    const loaded = [...source.matchAll(/^(?:import|export) (?!type )[^"=;()]*?from "([^"]+)"/gm)].map(
      ([, to = ""]) => to,
    )
    const foreign = loaded.filter((to) => !/^\.\/[\w-]+\.ts$/.test(to) && allowed[file] !== to)
    const globals = /\b(process|Buffer|require)\b/.test(source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""))
    return [...foreign.map((to) => `${file}: ${to}`), ...(globals ? [`${file}: a global of Node`] : [])]
  })
  expect(offences).toEqual([])
})
