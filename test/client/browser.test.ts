import { readdirSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

// What Node 20 needs and a browser neither has nor wants.
const forNodeOnly = new Set(["node-socket.ts", "socket-frame.ts"])

it("nothing but the client's own files is loaded where it runs, so that it fits into a browser", () => {
  const offences = readdirSync("src/client")
    .filter((file) => !forNodeOnly.has(file))
    .flatMap((file) => {
      const source = readFileSync(`src/client/${file}`, "utf8")
      const loaded = [...source.matchAll(/^(?:import|export) (?!type )[^"=;()]*?from "([^"]+)"/gm)].map(
        ([, to = ""]) => to,
      )
      const foreign = loaded.filter((to) => !/^\.\/[\w-]+\.ts$/.test(to) || forNodeOnly.has(to.slice(2)))
      const globals = /\b(process|Buffer|require)\b/.test(source.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, ""))
      return [...foreign.map((to) => `${file}: ${to}`), ...(globals ? [`${file}: a global of Node`] : [])]
    })
  expect(offences).toEqual([])
})
