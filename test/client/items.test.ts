import { beforeAll, expect, it } from "vitest"
import { createClient } from "../../src/client/client.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshIds, newShopper } from "../orders/shopper.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const collect = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

/** A client that counts its requests. */
const counting = (token: string) => {
  const urls: Array<string> = []
  const client = createClient({
    baseUrl: service.url,
    token,
    fetch: (url, init) => {
      urls.push(String(url))
      return fetch(url, init)
    },
  })
  return { client, urls }
}

it("`items` reads all pages of a list with `paging`, and keeps the other parameters", async () => {
  const person = await newShopper(service)
  const ids = freshIds(5)
  for (const emoji_id of ids) await person.call("POST", "/user_interests", { emoji_id })
  const { client, urls } = counting(person.token)
  const query = { limit: 2, sort: "created_at", dir: "Asc" } as const
  const found = await collect(client.items("GET /user_interests", { query }))
  expect(found.map(({ emoji_id }) => emoji_id)).toEqual(ids)
  expect(urls).toHaveLength(3)
  for (const url of urls) expect(url).toContain("limit=2&sort=created_at&dir=Asc")
})

it("`items` reads all pages of a list that is an array, with the header `Link`", async () => {
  const owner = await newShopper(service, { freeLimit: 10 })
  const ids = freshIds(5)
  await owner.add(...ids)
  await owner.checkout({ method: "Free" })
  const { client, urls } = counting(owner.token)
  const found = await collect(client.items("GET /emoji_id", { query: { limit: 2 } }))
  expect(found.toSorted()).toEqual(ids.toSorted())
  expect(urls).toHaveLength(3)
})

it("`items` reads only the pages that are needed, and no page of an empty list follows", async () => {
  const person = await newShopper(service)
  const { client, urls } = counting(person.token)
  expect(await collect(client.items("GET /user_interests"))).toEqual([])
  expect(urls).toHaveLength(1)
  for (const emoji_id of freshIds(5)) await person.call("POST", "/user_interests", { emoji_id })
  for await (const _ of client.items("GET /user_interests", { query: { limit: 2 } })) break
  expect(urls).toHaveLength(2)
})

it("`items` throws the error of the service", async () => {
  const { client } = counting("")
  await expect(collect(client.items("GET /user_interests"))).rejects.toMatchObject({ status: 401 })
})
