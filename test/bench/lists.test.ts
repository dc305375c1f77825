import { describe, expect, it } from "vitest"
import { readsOf } from "../../bench/lists/reads.ts"
import { leftOut } from "../../bench/lists/samples.ts"
import { listsTable } from "../../bench/lists/table.ts"
import { routes } from "../../src/routes.ts"

describe("the requests of the bench --lists", () => {
  it("contain every GET route that is not left out", () => {
    const gets = routes.filter(({ id, method }) => method === "get" && leftOut[id] === undefined)
    expect(new Set(readsOf(routes).map(({ id }) => id))).toEqual(new Set(gets.map(({ id }) => id)))
  })

  it("are all different", () => {
    const names = readsOf(routes).map(({ name }) => name)
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  it("contain each value of each query parameter", () => {
    const names = readsOf(routes.filter(({ id }) => id === "listLootboxes")).map(({ name }) => name)
    expect(names).toContain("GET /lootboxes as a user")
    expect(names).toContain("GET /lootboxes?sort=updated_at as a user")
    expect(names).toContain("GET /lootboxes?status=Used as an admin")
  })

  it("cannot be made for a parameter without a value", () => {
    const route = routes.find(({ id }) => id === "getOrder")!
    expect(() => readsOf([{ ...route, path: "/orders/:receipt" }])).toThrow(
      "GET /orders/:receipt (getOrder) has the new path parameter receipt. Add a value for it to bench/lists/samples.ts.",
    )
  })
})

describe("the table of the bench --lists", () => {
  it("begins with the request whose latency grows most", () => {
    const table = listsTable(
      [
        { name: "GET /flat", fewMs: 2, manyMs: 2.4 },
        { name: "GET /growing", fewMs: 2, manyMs: 400 },
        { name: "GET /small", fewMs: 0.1, manyMs: 0.3 },
      ],
      1_000_000,
    )
    expect(table).toBe(`| request | 1000 rows, ms | 1000000 rows, ms | ratio |  |
| --- | --- | --- | --- | --- |
| GET /growing | 2.00 | 400 | 200.00 | ✗ |
| GET /small | 0.10 | 0.30 | 3.00 | ✓ |
| GET /flat | 2.00 | 2.40 | 1.20 | ✓ |

2 of 3 requests are within the target of 1.5. Worst: GET /growing.`)
  })
})
