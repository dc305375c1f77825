import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

it("the client imports only its own files and uses no Node globals, so that it runs in a browser", () => {
  const offences = readdirSync("src/client").flatMap((file) => {
    const source = readFileSync(`src/client/${file}`, "utf8")
    const loaded = [...source.matchAll(/^(?:import|export) (?!type )[^"=;()]*?from "([^"]+)"/gm)].map(
      ([, to = ""]) => to,
    )
    const foreign = loaded.filter((to) => !/^\.\/[\w-]+\.ts$/.test(to))
    const globals = /\b(process|Buffer|require)\b/.test(source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""))
    return [...foreign.map((to) => `${file}: ${to}`), ...(globals ? [`${file}: a global of Node`] : [])]
  })
  expect(offences).toEqual([])
})
