import { describe, expect, it } from "vitest"
import type { Operation } from "../../src/docs-page/document.ts"
import { openApi } from "../../src/http/openapi.ts"
import { routes } from "../../src/routes.ts"
import { contractMembers, contractOperations } from "../fixtures/contract.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Super" })
const uuid = "00000000-0000-4000-8000-000000000000"

const document = openApi(routes, [])
const documented = (path: string, method: string) =>
  document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]![method] as Operation
const filled = (path: string) => path.replace(":emoji_id", "%F0%9F%9A%80").replaceAll(/:\w+/g, uuid)

const pagedLists = routes.filter(({ query }) => query?.["sort"] !== undefined)
const sortsOf = (path: string) =>
  documented(path, "get").parameters.find(({ name }) => name === "sort")!.schema.enum as ReadonlyArray<string>

/** The path of a list that exists. The security log of a user who does not exist is a 404. */
const listPath = (path: string) => path.replace(":id", admin.id)
const list = (path: string, search: string) =>
  service.call("GET", `${listPath(path)}?${search}`, { token: admin.token })

describe("the parameter `sort` of a paged list", () => {
  it("exists in the lists of the original API and in ours", () => {
    const named = contractOperations
      .filter(({ parameters }) => parameters.some(({ name }) => name === "sort"))
      .map(({ path }) => path)
    expect(pagedLists.map(({ path }) => path)).toEqual(expect.arrayContaining(named))
    expect(pagedLists.length).toBeGreaterThan(named.length)
  })

  it.each(pagedLists.map(({ path }) => path))(
    "refuses an unknown value with 400 and lists the values: %s",
    async (path) => {
      const { body, status } = await list(path, "sort=colour")
      expect(status).toBe(400)
      expect(body.error).toBe(`query: sort: expected one of ${sortsOf(path).join(", ")}`)
    },
  )

  it.each(pagedLists.map(({ path }) => path))(
    "accepts every listed value, and an empty one: %s",
    async (path) => {
      for (const sort of sortsOf(path)) {
        const { body, status } = await list(path, `sort=${sort}&dir=Asc`)
        expect([sort, status, body.paging]).toEqual([
          sort,
          200,
          expect.objectContaining({ sort, dir: "Asc" }),
        ])
      }
      const { body, status } = await list(path, "sort=&dir=")
      expect([status, body.paging.sort]).toEqual([200, sortsOf(path)[0]])
    },
  )

  it("is not the only parameter whose values are listed: an unknown `dir` is refused in the same way", async () => {
    const { body, status } = await list("/users", "dir=down")
    expect([status, body.error]).toEqual([400, "query: dir: expected one of Asc, Desc"])
  })
})

const patches = routes.filter(({ method }) => method === "patch")
const membersOf = (path: string) => {
  const { content } = documented(path, "patch").requestBody!
  const { $ref } = content["application/json"]!.schema as { $ref: string }
  const schemas = document.components.schemas as Record<string, { properties: object }>
  return Object.keys(schemas[$ref.split("/").at(-1)!]!.properties)
}
const patch = (path: string, body: unknown) =>
  service.call("PATCH", filled(path), { token: admin.token, body })

describe("the body of a PATCH", () => {
  it.each(patches.map(({ path }) => path))(
    "with unknown members is refused with 400, which names them and lists the known ones: %s",
    async (path) => {
      const { body, status } = await patch(path, { colour: "red", taste: 1 })
      expect(status).toBe(400)
      expect(body.error).toBe(
        `body: unknown members: colour, taste. Expected only: ${membersOf(path).join(", ")}.`,
      )
    },
  )

  it.each(patches.map(({ path }) => path))(
    "may have every known member as null, as generated clients send it: %s",
    async (path) => {
      const { body, status } = await patch(
        path,
        Object.fromEntries(membersOf(path).map((name) => [name, null])),
      )
      // The resource does not exist, except the caller's own account.
      expect([path, status, body.error]).not.toEqual([path, 400, expect.anything()])
    },
  )

  it("may have every member of the original API", () => {
    const given = contractOperations.filter(({ method }) => method === "patch")
    expect(given.map(({ path }) => path).sort()).toEqual([
      "/account",
      "/emoji_id/{emoji_id}",
      "/lootboxes/{id}",
      "/users/{id}",
    ])
    for (const operation of given) {
      expect(membersOf(operation.path)).toEqual(expect.arrayContaining([...contractMembers(operation)]))
    }
  })

  it("changes nothing if one of its members is unknown", async () => {
    const user = await service.user()
    const refused = await service.call("PATCH", "/account", {
      token: user.token,
      body: { first_name: "Ann", nickname: "annie" },
    })
    expect(refused.status).toBe(400)
    const { body } = await service.call("GET", "/account", { token: user.token })
    expect(body.user.first_name).toBeUndefined()
  })

  it("may have unknown members inside its members: a record of a lookup can be inserted as it is", async () => {
    const owner = await service.user()
    const id = "🚀🌊🔥"
    await service.call("POST", "/emoji_id", { token: admin.token, body: { emoji_id: id, user_id: owner.id } })
    const { status } = await service.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, {
      token: owner.token,
      body: { insert: [{ tag: "0x4001", data: "https://example.com", hash: "of another id" }] },
    })
    expect(status).toBe(200)
  })
})
