import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { normalizeRecord, RecordRefused } from "../../schema/directory/records/record.ts"
import { listedKinds } from "../../schema/directory/records/record-kind.ts"
import { formatTag } from "../../schema/directory/records/record-tag.ts"
import { nativeTickers } from "../../schema/directory/ticker.ts"
import { liveEvents } from "../../schema/live-events.ts"
import type { Operation } from "../../src/docs-page/document.ts"
import { pageNames, renderPage } from "../../src/docs-page/page.ts"
import { operationsOf, topicsOf } from "../../src/docs-page/reference.ts"
import { referenceOf } from "../../src/docs-page/routes.ts"
import { searchIndex } from "../../src/docs-page/search-index.ts"
import { routes } from "../../src/routes.ts"
import { testConfig } from "../fixtures/test-service.ts"

const reference = referenceOf(testConfig(), routes)
const pages = new Map(
  ["", ...pageNames(routes)].map((name) => [
    name === "" ? "/docs" : `/docs/${name}`,
    String(renderPage(reference, name).raw),
  ]),
)
const operations = operationsOf(reference)
const root = join(import.meta.dirname, "../..")
const textsOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|sql)$/.test(name))
    .map((name) => readFileSync(join(root, folder, name), "utf8"))
/** Returns the text of the operation's section. */
const sectionOf = ({ operationId }: Operation): string => {
  for (const text of pages.values()) {
    const from = text.indexOf(`<section class="operation" id="${operationId}"`)
    if (from >= 0) return text.slice(from, text.indexOf("</section>", from))
  }
  throw new Error(`no page has the operation ${operationId}`)
}

describe("the API reference", () => {
  it("has a description and an example of request and response for every operation", () => {
    for (const { operation } of operations) {
      const section = sectionOf(operation)
      expect([operation.operationId, operation.description]).toEqual([
        operation.operationId,
        expect.stringMatching(/\w{3}.*[.!]$/),
      ])
      expect(section).toContain("<figcaption>Request</figcaption>")
      expect(section).toContain("<figcaption>Response</figcaption>")
      expect(section).toMatch(/curl .*\$B\//)
      expect(section).toContain("HTTP/1.1 ")
    }
  })

  it("shows the records and the live events of the code completely, with examples that the code accepts", () => {
    const records = pages.get("/docs/records") ?? ""
    for (const { example, refused, tag } of listedKinds) {
      expect(records).toContain(`id="tag-${tag}"`)
      expect([tag, normalizeRecord({ tag, data: example })]).toEqual([tag, expect.objectContaining({ tag })])
      if (refused !== undefined)
        expect([tag, normalizeRecord({ tag, data: refused })]).toEqual([tag, expect.any(RecordRefused)])
    }
    for (const [ticker, tag] of nativeTickers)
      expect(records).toContain(`<td>${ticker}</td><td><code>${formatTag(tag)}</code></td>`)
    const published = ["machines", "schema/sql/functions"].flatMap(textsOf).flatMap((text) => {
      const names = /["']((?:cart|emoji_ids?|interest|lootbox|market|order|session|transfer)\.[a-z_]+)["']/g
      return [...text.matchAll(names)].map(([, name]) => name)
    })
    expect(Object.keys(liveEvents).toSorted()).toEqual([...new Set(published)].toSorted())
  })

  it("lists every group in the sidebar once", () => {
    const listed = topicsOf(reference).flatMap(([, groups]) => groups)
    const groups = new Set(operations.map(({ operation }) => operation.tags[0]))
    expect(listed.toSorted()).toEqual([...groups].filter((group) => group !== "live").toSorted())
  })

  it("has only links whose page and place exist", () => {
    const broken = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/href="((?:\/docs[\w/-]*)?(?:#[^"]+)?)"/g)]
        .map(([, href = ""]) => href.split("#") as [string, string?])
        .filter(([to, place]) => {
          const target = pages.get(to === "" ? path : to)
          return target === undefined || (place !== undefined && !target.includes(`id="${place}"`))
        })
        .map((href) => `${path}: ${href.join("#")}`),
    )
    expect(broken).toEqual([])
  })

  it("contains no unresolved reference and no inline script or style", () => {
    for (const text of pages.values()) {
      expect(text).not.toContain("$ref")
      expect(text).not.toContain("[object Object]")
      expect(text).not.toMatch(/>\s*undefined|\bNaN\b/)
      expect(text).not.toMatch(/<script(?! type="module" src=)|<style| style="| on\w+="/)
    }
  })

  it("finds every operation, error, channel and schema by its name in the search, at a place that exists", () => {
    const entries = searchIndex(reference)
    const titles = new Set(entries.map(({ title }) => title))
    for (const { operation } of operations) expect(titles).toContain(operation.summary)
    for (const name of Object.keys(reference.openApi.components.schemas)) expect(titles).toContain(name)
    for (const { href } of entries) {
      const [path, place] = href.split("#")
      const page = pages.get(path!)
      expect([href, page === undefined]).toEqual([href, false])
      if (place !== undefined) expect(page).toContain(`id="${place}"`)
    }
  })

  it("shows demo accounts only if their passwords are published", () => {
    const loginsOf = (environment: Record<string, string>) =>
      referenceOf(testConfig(environment), routes).demoLogins.map(({ email }) => email)
    expect(loginsOf({ DEMO: "true" })).toContain("alice@example.com")
    expect(loginsOf({ DEMO: "false" })).toEqual([])
    expect(loginsOf({ DEMO: "true", HOST: "0.0.0.0" })).toEqual([])
  })
})

describe("the OpenAPI document", () => {
  it("has the header Link of a list that is returned as an array", () => {
    const headersOf = (path: string) => {
      const operation = reference.openApi.paths[path]?.["get"] as Operation
      return Object.keys(operation.responses["200"]?.headers ?? {})
    }
    expect(headersOf("/emoji_id")).toContain("Link")
    expect(headersOf("/oauth_clients")).toContain("Link")
    expect(headersOf("/orders")).not.toContain("Link")
  })
})
