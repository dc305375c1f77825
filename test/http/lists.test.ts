import { describe, expect, it } from "vitest"
import type { Route } from "../../src/http/route.ts"
import { routes } from "../../src/routes.ts"
import { serve } from "../fixtures/service.ts"
import { makeListRows } from "./list-rows.ts"

const service = await serve()
const rowsOf = await makeListRows(service)
const lists = routes.filter(({ query }) => query?.["page"] !== undefined)

/** The sort orders of a list, as parameters. A list that is returned as an array has one order. */
const ordersOf = ({ query }: Route): ReadonlyArray<string> => {
  const sort = query?.["sort"] as unknown as { readonly schema: { readonly literals: ReadonlyArray<string> } }
  if (sort === undefined) return [""]
  return sort.schema.literals
    .filter((value) => value !== "")
    .flatMap((value) => [`sort=${value}&dir=Asc`, `sort=${value}&dir=Desc`])
}

interface ReadPage {
  readonly names: ReadonlyArray<string>
  readonly next: string | undefined
  readonly previous: string | undefined
}

const nameOf = (item: string | Record<string, string | number>): string =>
  typeof item === "string"
    ? item
    : String(
        item["canonical_format"] ??
          item["client_id"] ??
          item["id"] ??
          item["user_id"] ??
          item["version"] ??
          "",
      )

const linkTo = (header: string | null, rel: string): string | undefined =>
  header
    ?.split(", ")
    .find((link) => link.endsWith(`rel="${rel}"`))
    ?.match(/[?&](?:after|before)=([^&>]+)/)?.[1]

const call = (id: string, more: string) => {
  const { path, reader } = rowsOf[id]!
  return service.call("GET", `${path}${path.includes("?") ? "&" : "?"}${more}`, { token: reader.token })
}

const readPage = async (id: string, more: string): Promise<ReadPage> => {
  const { body, headers, status } = await call(id, more)
  expect([status, body]).toEqual([200, expect.anything()])
  const isArray = Array.isArray(body) || Array.isArray(body.result)
  return {
    names: (body.data ?? body.result ?? body).map(nameOf),
    next: isArray ? linkTo(headers.get("link"), "next") : body.paging.next,
    previous: isArray ? linkTo(headers.get("link"), "prev") : body.paging.previous,
  }
}

const countOf = (seen: ReadonlyArray<string>, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, seen.filter((one) => one === name).length]))

describe("every list with pages", () => {
  it("has rows in this test", () => {
    expect(lists.map(({ id }) => id).toSorted()).toEqual(Object.keys(rowsOf).toSorted())
  })
})

describe.each(lists.map((list) => [list.path, list] as const))("GET %s", (_path, list) => {
  const { add, remove } = rowsOf[list.id]!

  it("returns each row that stays exactly once, forward and back, while rows are added and removed", async () => {
    for (let n = 0; n < 5; n++) await add()
    for (const order of ordersOf(list)) {
      const changing = [await add(), await add(), await add()]
      const change = async () => {
        await remove(changing.shift()!)
        changing.push(await add())
      }
      const whole = await readPage(list.id, `${order}&limit=100`)
      expect([whole.next, whole.previous]).toEqual([undefined, undefined])
      const staying = whole.names.filter((name) => !changing.includes(name))
      expect(staying.length).toBeGreaterThanOrEqual(5)
      const once = Object.fromEntries(staying.map((name) => [name, 1]))

      let page = await readPage(list.id, `${order}&limit=2`)
      expect(page.previous).toBeUndefined()
      const forward = [...page.names]
      while (page.next !== undefined) {
        await change()
        page = await readPage(list.id, `${order}&limit=2&after=${page.next}`)
        forward.push(...page.names)
      }
      expect([order, countOf(forward, staying)]).toEqual([order, once])
      expect([order, forward.length]).toEqual([order, new Set(forward).size])
      const back = [...page.names]
      while (page.previous !== undefined) {
        await change()
        page = await readPage(list.id, `${order}&limit=2&before=${page.previous}`)
        back.unshift(...page.names)
      }
      expect([order, countOf(back, staying)]).toEqual([order, once])
      expect([order, back.filter((name) => staying.includes(name))]).toEqual([
        order,
        forward.filter((name) => staying.includes(name)),
      ])
      for (const name of changing) await remove(name)
    }
  })

  it("returns the same rows by page number and by cursor", async () => {
    for (const order of ordersOf(list)) {
      const first = await readPage(list.id, `${order}&limit=2`)
      const second = await readPage(list.id, `${order}&limit=2&page=1`)
      expect((await readPage(list.id, `${order}&limit=2&after=${first.next}`)).names).toEqual(second.names)
      expect((await readPage(list.id, `${order}&limit=2&before=${second.previous}`)).names).toEqual(
        first.names,
      )
    }
  })

  it("refuses a page beyond row 100,000, two cursors, a cursor with a page number and a damaged cursor with 400", async () => {
    const { next } = await readPage(list.id, "limit=2")
    const errorOf = async (more: string) => {
      const { body, status } = await call(list.id, more)
      return [status, body.error]
    }
    expect(await errorOf("limit=100&page=1000")).toEqual([400, expect.stringContaining("`after`")])
    expect((await call(list.id, "limit=100&page=999")).status).toBe(200)
    expect(await errorOf(`after=${next}&before=${next}`)).toEqual([
      400,
      expect.stringMatching(/^query: before: /),
    ])
    expect(await errorOf(`after=${next}&page=0`)).toEqual([400, expect.stringMatching(/^query: page: /)])
    const changed = `${next!.startsWith("A") ? "B" : "A"}${next!.slice(1)}`
    const damaged = [next!.slice(0, -1), `${next}A`, changed, "x", "💥"]
    for (const text of damaged)
      expect(await errorOf(`before=${encodeURIComponent(text)}`)).toEqual([
        400,
        "query: before: expected a cursor from an earlier response, unchanged",
      ])
    expect((await readPage(list.id, "limit=2&after=&before=")).names).toHaveLength(2)
  })
})

it("a cursor is refused by another list, and with another sort order or direction", async () => {
  const { next } = await readPage("getAllUsers", "limit=2")
  const errorOf = async (id: string, more: string) => (await call(id, `after=${next}${more}`)).body.error
  expect(await errorOf("listOrganizations", "")).toMatch("another list")
  expect(await errorOf("getAllUsers", "&sort=email")).toMatch("send the same sort and dir")
  expect(await errorOf("getAllUsers", "&dir=Asc")).toMatch("send the same sort and dir")
})

it("a page of a search behind the last user found is empty", async () => {
  const { token } = await service.user({ role: "Super", email: "only-one@search.test" })
  for (const sort of ["email", "first_name", "created_at"]) {
    const { body, status } = await service.call(
      "GET",
      `/users?search=only-one@&sort=${sort}&limit=1&page=3`,
      { token },
    )
    expect([status, body.data, body.paging?.total]).toEqual([200, [], 1])
  }
})

it("`total` is exact up to 10,000, and an estimate beyond", async () => {
  const { token } = await service.user({ role: "Super" })
  const totalOf = async () => {
    const { body } = await service.call("GET", "/organizations?limit=1", { token })
    return body.paging
  }
  const { total } = await totalOf()
  await service.sql`insert into organization (name) select 'Many' from generate_series(1, ${10_000 - total}::int)`
  const exact = await totalOf()
  expect([exact.total, exact.total_is_estimate]).toEqual([10_000, undefined])
  await service.sql`insert into organization (name) select 'Many' from generate_series(1, 5000)`
  await service.sql`analyze organization`
  const { total: estimate, total_is_estimate } = await totalOf()
  expect(total_is_estimate).toBe(true)
  expect(estimate).toBeGreaterThan(10_000)
})
