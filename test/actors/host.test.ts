import { randomUUID } from "node:crypto"
import { Effect, Result } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { OrderActors } from "../../actors/order.ts"
import type { OrderEvent } from "../../machines/orders/context.ts"
import { serve, type TestService } from "../fixtures/service.ts"

let one: TestService
let two: TestService
beforeAll(async () => {
  one = await serve({}, { peersPossible: true })
  two = await serve({}, { database: one.database, peersPossible: true })
})

const at = new Date(0).toISOString()
const item = (emoji: string) => ({
  id: randomUUID(),
  type: "EmojiId" as const,
  claim: emoji,
  cents: 400,
  createdAt: at,
  updatedAt: at,
})

const add = (service: TestService, orderId: string, owner: string, emoji = "🚀") =>
  service.runtime.runPromise(
    Effect.flatMap(OrderActors, (orders) =>
      orders.send(
        orderId,
        { type: "add", items: [item(emoji)], at },
        { create: { id: orderId, userId: owner, createdAt: at } },
      ),
    ).pipe(Effect.result),
  )

const newOrder = async () => ({ id: randomUUID(), owner: (await one.user()).id })

describe("an entity", () => {
  it("applies a hundred concurrent events one after the other and loses none", async () => {
    const { id, owner } = await newOrder()
    const results = await Promise.all(Array.from({ length: 100 }, () => add(one, id, owner)))
    expect(results.every(Result.isSuccess)).toBe(true)
    const [row] =
      await one.sql`select version, jsonb_array_length(state->'context'->'items') as items from entity where id = ${id}`
    expect(row).toEqual({ version: 100, items: 100 })
  })

  it("loses no acknowledged event when two services send a hundred events concurrently", async () => {
    const { id, owner } = await newOrder()
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, i) => add(i % 2 === 0 ? one : two, id, owner)),
    )
    const succeeded = results.filter(Result.isSuccess).length
    const [row] =
      await one.sql`select version, jsonb_array_length(state->'context'->'items') as items from entity where id = ${id}`
    expect(row).toEqual({ version: succeeded, items: succeeded })
    for (const result of results)
      if (Result.isFailure(result)) expect(result.failure).toMatchObject({ _tag: "Unavailable" })
    expect(succeeded).toBeGreaterThan(90)
  })

  it("accepts the events of both services when two services create the entity concurrently", async () => {
    for (let round = 0; round < 150; round++) {
      const { id, owner } = await newOrder()
      const results = await Promise.all([one, two, one, two].map((service) => add(service, id, owner)))
      expect(results.filter(Result.isFailure)).toEqual([])
    }
  })

  it("publishes events with gapless offsets when two services change the entity concurrently", async () => {
    const { id, owner } = await newOrder()
    await Promise.all(Array.from({ length: 40 }, (_, i) => add(i % 2 === 0 ? one : two, id, owner)))
    const [row] = await one.sql`select version from entity where id = ${id}`
    const offsets =
      await one.sql`select "offset" from event where channel = ${`order:${id}`} order by "offset"`
    expect(offsets.map((event) => event["offset"])).toEqual(
      Array.from({ length: row?.["version"] }, (_, i) => i + 1),
    )
  })

  it("refuses an event that its state does not allow, and reports the allowed events", async () => {
    const { id, owner } = await newOrder()
    await add(one, id, owner)
    const result = await one.runtime.runPromise(
      Effect.flatMap(OrderActors, (orders) =>
        orders.send(id, { type: "remove", itemId: randomUUID(), at }),
      ).pipe(Effect.result),
    )
    expect(Result.isFailure(result) && result.failure).toMatchObject({
      _tag: "EventRefused",
      details: { state: "Draft", allowed: expect.arrayContaining(["add", "clear"]) },
    })
  })

  it("accepts an event that a new entity would refuse, if another service has created and changed the entity", async () => {
    const { id, owner } = await newOrder()
    await add(one, id, owner)
    const send = (service: TestService, event: OrderEvent) =>
      service.runtime.runPromise(
        Effect.flatMap(OrderActors, (orders) =>
          orders.send(id, event, { create: { id, userId: owner, createdAt: at } }),
        ).pipe(Effect.result),
      )
    const checkout = {
      method: "CardCheckout",
      at,
      pubkey: "00",
      expiresAt: "2100-01-01T00:00:00.000Z",
    } as const
    const held = await send(one, { type: "checkout.payment", at, items: [item("🛰️")], checkout })
    expect(Result.isSuccess(held)).toBe(true)
    // A new order would refuse this event. The second service has not read the order yet, so it must read the order.
    const back = await send(two, { type: "convert_to_draft", at })
    expect(Result.isSuccess(back) && back.success).toMatchObject({ version: 3, snapshot: { value: "Draft" } })
  })

  it("that does not exist answers `NotFound` to an event that cannot create the entity", async () => {
    const result = await one.runtime.runPromise(
      Effect.flatMap(OrderActors, (orders) => orders.send(randomUUID(), { type: "clear", at })).pipe(
        Effect.result,
      ),
    )
    expect(Result.isFailure(result) && result.failure).toMatchObject({ _tag: "NotFound" })
  })

  it("is read with the changes that another service has stored", async () => {
    const { id, owner } = await newOrder()
    await add(one, id, owner)
    await add(two, id, owner)
    const seen = await one.runtime.runPromise(Effect.flatMap(OrderActors, (orders) => orders.find(id)))
    expect(seen?.version).toBe(2)
    const after = await add(one, id, owner)
    expect(Result.isSuccess(after) && after.success.version).toBe(3)
  })

  it("rejects events with `Unavailable` when too many events are waiting, and applies all other events", async () => {
    const { id, owner } = await newOrder()
    const results = await Promise.all(Array.from({ length: 400 }, () => add(one, id, owner)))
    const refused = results.filter(Result.isFailure)
    expect(refused.length).toBeGreaterThan(0)
    for (const { failure } of refused)
      expect(failure).toMatchObject({ _tag: "Unavailable", retryAfterSeconds: 1 })
    const [row] = await one.sql`select version from entity where id = ${id}`
    expect(row?.["version"]).toBe(400 - refused.length)
  })
})
