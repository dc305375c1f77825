import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type ChannelUpdate, createClient } from "../../src/client/client.ts"
import { channel$, records$ } from "../../src/client/rxjs.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { freshId, newShopper } from "../orders/shopper.ts"
import { FakeSocket, greet } from "./fake-socket.ts"
import { openClient } from "./real-client.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})
beforeEach(() => {
  FakeSocket.all = []
})

/** An id with a BTC record, and its owner. */
const newRecord = async () => {
  const admin = await newShopper(service, { role: "Admin" })
  const id = freshId()
  await admin.call("POST", "/emoji_id", { emoji_id: id, user_id: admin.id })
  const write = (data: string) =>
    admin.call("PATCH", `/emoji_id/${encodeURIComponent(id)}`, { insert: [{ tag: "0x5001", data }] })
  await write("first")
  return { id, write }
}

describe("a loop over the updates of a channel", () => {
  it("gets the state and then the events, and ends at `break` without ending other loops", async () => {
    const buyer = await newShopper(service)
    const client = openClient(service, { token: buyer.token })
    const seen: Array<string> = []
    const other = client.updates("cart")
    for await (const update of client.updates("cart")) {
      seen.push(update.type)
      if (update.type === "event") break
      expect(update.state.order_items).toEqual([])
      await buyer.add(freshId())
    }
    expect(seen).toEqual(["state", "event"])
    expect((await other.next()).value).toMatchObject({ type: "state" })
    expect((await other.next()).value).toMatchObject({ type: "event", event: { event: "cart.changed" } })
  })

  it("ends when the signal aborts, also before the first update", async () => {
    const client = openClient(service)
    const abort = new AbortController()
    for await (const _ of client.updates("market", { signal: abort.signal })) abort.abort()
    for await (const _ of client.updates("market", { signal: abort.signal })) expect.unreachable()
    const waiting = new AbortController()
    const loop = client.updates("market", { signal: waiting.signal })
    waiting.abort()
    expect(await loop.next()).toEqual({ done: true, value: undefined })
  })

  it("ends when the connection is closed, also if it begins after that", async () => {
    const client = openClient(service)
    for await (const _ of client.updates("market")) client.live.close()
    for await (const _ of client.updates("market")) expect.unreachable()
  })

  it("throws `ChannelRefused` if the service refuses the channel", async () => {
    const loop = openClient(service).updates("cart")
    await expect(loop.next()).rejects.toMatchObject({
      name: "ChannelRefused",
      channel: "cart",
      code: "login_required",
    })
    expect(await loop.next()).toEqual({ done: true, value: undefined })
  })

  it("that reads too slowly gets the state again instead of thousands of old events", async () => {
    let subscriptions = 0
    FakeSocket.answers = (frame, socket) => {
      greet(frame, socket)
      if (frame["type"] !== "subscribe") return
      const isFirst = ++subscriptions === 1
      const offset = isFirst ? 0 : 1500
      socket.say({
        type: "subscribed",
        ...{ channel: "market", epoch: "e", offset, recovered: false, state: [String(offset)] },
      })
      for (let n = 1; isFirst && n <= 1500; n++)
        socket.say({ type: "event", channel: "market", offset: n, event: "market.purchased", data: {} })
    }
    const client = createClient({ baseUrl: "http://x", WebSocket: FakeSocket })
    const loop = client.updates("market")
    const updates: Array<ChannelUpdate<"market">> = []
    for await (const update of loop) {
      updates.push(update)
      if (update.type === "state" && subscriptions === 2) break
    }
    client.live.close()
    expect(updates.at(-1)).toEqual({ type: "state", state: ["1500"] })
    expect(updates.length).toBeLessThan(1000)
  })
})

describe("a loop over the records of an id", () => {
  it("gets the newest records only, if it reads slowly", async () => {
    const { id, write } = await newRecord()
    const client = openClient(service)
    const reported: Array<string> = []
    client.watchId(id, ({ result }) => void reported.push(result.at(-1)?.data ?? ""))
    const loop = client.records(id)
    expect((await loop.next()).value?.result.at(-1)?.data).toBe("first")
    await write("second")
    await write("third")
    await expect.poll(() => reported.at(-1)).toBe("third")
    expect((await loop.next()).value?.result.at(-1)?.data).toBe("third")
  })

  it("reports the error of a text that is not an emoji id, and then ends", async () => {
    const errors: Array<string | undefined> = []
    for await (const { error } of openClient(service).records("abc")) errors.push(error?.reason)
    expect(errors).toEqual([expect.any(String)])
  })

  it("ends when the connection is closed and when the signal aborts", async () => {
    const { id } = await newRecord()
    const client = openClient(service)
    const abort = new AbortController()
    for await (const _ of client.records(id, { signal: abort.signal })) abort.abort()
    for await (const _ of client.records(id)) client.live.close()
    for await (const _ of client.records(id)) expect.unreachable()
  })
})

describe("an Observable", () => {
  it("of a channel emits the state and events, and completes when the connection is closed", async () => {
    const buyer = await newShopper(service)
    const client = openClient(service, { token: buyer.token })
    const seen: Array<string> = []
    const done = new Promise<void>((resolve, reject) => {
      channel$(client, "cart").subscribe({
        next: ({ type }) => {
          seen.push(type)
          if (type === "state") void buyer.add(freshId())
          else client.live.close()
        },
        error: reject,
        complete: resolve,
      })
    })
    await done
    expect(seen).toEqual(["state", "event"])
  })

  it("of a refused channel fails with `ChannelRefused`", async () => {
    const client = openClient(service)
    const failed = new Promise((_, reject) => channel$(client, "transfers").subscribe({ error: reject }))
    await expect(failed).rejects.toMatchObject({ name: "ChannelRefused", code: "login_required" })
  })

  it("of records stops the reports when it is unsubscribed", async () => {
    const { id, write } = await newRecord()
    const client = openClient(service)
    const [stopped, going]: [Array<string>, Array<string>] = [[], []]
    const subscription = records$(client, id).subscribe(({ result }) =>
      stopped.push(result.at(-1)?.data ?? ""),
    )
    records$(client, id).subscribe(({ result }) => going.push(result.at(-1)?.data ?? ""))
    await expect.poll(() => [...stopped, ...going]).toEqual(["first", "first"])
    subscription.unsubscribe()
    await write("second")
    await expect.poll(() => going).toEqual(["first", "second"])
    expect(stopped).toEqual(["first"])
  })
})
