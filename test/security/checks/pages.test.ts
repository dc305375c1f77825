import { describe, expect, it } from "vitest"
import type { Route } from "../../../src/http/route.ts"
import { routes } from "../../../src/routes.ts"
import { register } from "../../accounts/person.ts"
import { serveDirectory } from "../../directory/directory-service.ts"
import type { Answer } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"
import { makePartner } from "../../partners/partner.ts"
import { authorizeAddress, makeVisitor, registerApplication } from "../../sign-in/oauth/application.ts"

/** These tests call every route that returns a page. The list comes from the route table. */

const service = await serveDirectory({ BASE_URL: "https://id.example" })
await makePartner(service)
const app = await registerApplication(service, "https://app.example/back", `<img src=x onerror="fz()">`)

const marker = `"><fz onfz='1'>`
const hostile = encodeURIComponent(marker)
const isPage = ({ produces }: Route) => produces === "text/html"
const pages = routes.filter((row) => isPage(row) && row.method === "get")
const forms = routes.filter((row) => isPage(row) && row.method === "post")
const named = (rows: ReadonlyArray<Route>) => rows.map((row) => [`${row.method} ${row.path}`, row] as const)

const authorizeQuery = authorizeAddress(app, { state: marker.slice(0, 40) }).split("?")[1] ?? ""
/** The address of a page, with a hostile text in every parameter that the page knows. */
const addressOf = ({ id, path, query, search }: Route): string => {
  const known = path.replace(":partner_path", "octo").replaceAll(/:\w+/g, hostile)
  if (id.startsWith("authorize")) return `${known}?${authorizeQuery}`
  const names = Object.keys(query ?? search ?? { q: "" })
  return `${known}?${names.map((name) => `${name}=${hostile}`).join("&")}`
}

const expectSafe = ({ headers, text }: Answer) => {
  const policy = (headers.get("content-security-policy") ?? "").split("; ")
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]),
  )
  expect(policy.join()).not.toMatch(/unsafe|\*/)
  expect(headers.get("referrer-policy")).toBe("no-referrer")
  expect(headers.get("x-frame-options")).toBe("DENY")
  expect(headers.get("x-content-type-options")).toBe("nosniff")
  expect(text).not.toMatch(/<fz|<img src=x/)
  expect(text.replaceAll(/<script type="module" src="[^"]+"><\/script>/g, "")).not.toMatch(
    /<script|<style|<[a-z][^>]*\s(?:style|on\w+)=["']|="javascript:/i,
  )
}

describe("a page with hostile texts in all its parameters", () => {
  it.each(named(pages))(
    "forbids inline scripts and frames, and encodes the texts: %s",
    async (_name, row) => {
      const answer = await service.call("GET", addressOf(row), { headers: { accept: "text/html" } })
      // The documentation and the test payment page contain no data of a user.
      const isPublic = row.id.startsWith("docs") || row.id === "sandboxCheckout"
      expect(answer.headers.get("access-control-allow-origin")).toBe(isPublic ? "*" : null)
      if (answer.status === 303) return expect(answer.headers.get("location")).toMatch(/^\/[\w/#]*$/)
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8")
      expectSafe(answer)
    },
  )

  it.each([
    ["an unknown path", "GET", `/${hostile}`],
    ["a method that the path does not have", "DELETE", "/authorize"],
    ["a path with invalid percent-encoding", "GET", "/partner/%ff"],
    ["a body that is too large", "POST", "/magic_link"],
  ])("is also safe if it reports an error: %s", async (_what, method, path) => {
    const headers = { accept: "text/html", "content-type": "application/x-www-form-urlencoded" }
    const rawBody = "a=".padEnd(40_000, "x")
    const answer = await service.call(method, path, { headers, ...(method === "POST" ? { rawBody } : {}) })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expectSafe(answer)
  })
})

describe("a form", () => {
  const post = (row: Route, cookie: string, fields: Record<string, string>) => {
    const path = row.path.replace(":partner_path", "octo")
    const search = row.id.startsWith("authorize") ? `?${authorizeQuery}` : ""
    return service.call("POST", `${path}${search}`, {
      rawBody: new URLSearchParams(fields).toString(),
      headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
    })
  }
  /** The test payment page has no login, and its address is a secret. */
  const guarded = forms.filter(({ id }) => id !== "sandboxPay")

  it.each(named(guarded))(
    "is refused with 403 without the form token of its browser: %s",
    async (_name, row) => {
      const person = await register(service)
      const [mine, theirs] = [makeVisitor(service), makeVisitor(service)]
      await mine.get(authorizeAddress(app))
      await theirs.get(authorizeAddress(app))
      const session = `__Host-svc_session=${person.refresh}`
      const cookies = (visitor: typeof mine) =>
        [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
      const page = await theirs.get(authorizeAddress(app))
      const stolen = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ""
      expect(stolen).not.toBe("")
      const fields = { action: "use", email: person.email, password: "a new password", emoji_id: freshId() }
      for (const form_token of ["", "forged", stolen]) {
        const answer = await post(row, `${cookies(mine)}; ${session}`, { ...fields, form_token })
        expect([form_token, answer.status]).toEqual([form_token, 403])
        expectSafe(answer)
      }
    },
  )

  it("exists in the route table, so the tests above are not empty", () => {
    expect(guarded.length).toBeGreaterThanOrEqual(7)
    expect(pages.length).toBeGreaterThanOrEqual(10)
  })
})

describe("a cookie", () => {
  it("of any page is host-only, HttpOnly, Secure and SameSite if the site uses https", async () => {
    const visitor = makeVisitor(service)
    const person = await register(service)
    const entered = await visitor.get(
      `/partner/octo?${new URLSearchParams({ refresh_token: person.refresh })}`,
    )
    const handed = await visitor.get(`/magic_link?${new URLSearchParams({ refresh_token: person.refresh })}`)
    const used = await visitor.submit(await visitor.get("/magic_link"), { action: "use" })
    const lines = [entered, handed, used].flatMap(({ headers }) => headers.getSetCookie())
    expect(lines.length).toBeGreaterThanOrEqual(4)
    for (const line of lines)
      expect(line).toMatch(/^__Host-svc_\w+=[\w.-]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/)
  })
})
