import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { eventKinds, sentenceOf, sentences } from "../../src/console/browser/admin/event-sentences.ts"

const quotedName = /["']([a-z_]+\.[a-z_]+)["']/g
const typeInSql = /'type', '([a-z_]+\.[a-z_]+)'/g

/** The names of all events that the machines and the SQL functions publish. Machines also quote names of their inputs. */
const publishedEvents = (): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const folder of ["machines", "schema/sql/functions"])
    for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!/\.(ts|sql)$/.test(file)) continue
      const text = readFileSync(join(folder, file), "utf8")
      for (const [, name = ""] of text.matchAll(typeInSql)) names.add(name)
      for (const [, name = ""] of text.matchAll(quotedName))
        if (Object.hasOwn(eventKinds, name.split(".")[0] ?? "")) names.add(name)
    }
  return [...names].toSorted()
}

it("every event of the service has a sentence, and no other event has one", () => {
  expect(Object.keys(sentences).toSorted()).toEqual(publishedEvents())
  const kinds = new Set(Object.keys(sentences).map((name) => name.split(".")[0]))
  expect([...kinds].toSorted()).toEqual(Object.keys(eventKinds).toSorted())
})

it("an event has a readable sentence even if its data is not as expected", () => {
  for (const event of [...Object.keys(sentences), "later.release"])
    for (const data of [{}, null, "text", { emoji_id: "🔥", items: 1, inserted: ["x"], minted: true }]) {
      const sentence = sentenceOf({ channel: "market", offset: 1, event, data, at: "2026-01-01T00:00:00Z" })
      expect(sentence).toMatch(/^\S.*\.$/u)
      expect(sentence).not.toMatch(/undefined|NaN|\[object/)
    }
})
