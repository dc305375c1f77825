import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import { type ChannelPosition, Publisher } from "../../actors/ports.ts"
import type { EventFrame, LookupResult } from "../../schema/live-frames.ts"
import { ApiError } from "../../src/client/api-error.ts"
import { delayMs } from "../../src/client/backoff.ts"
import { createDatabase } from "../fixtures/database.ts"
import { serve, type TestService } from "../fixtures/service.ts"
import { inTime } from "../fixtures/suite/patience.ts"
import { type ClientOptions, openClient } from "./real-client.ts"
import { until } from "./until.ts"

const password = "correct horse battery"
const tokenSeconds = 6
const backoff = { firstMs: 30, longestMs: 200 }
let service: TestService

beforeAll(async () => {
  service = await serve({ ACCESS_TOKEN_SECONDS: `${tokenSeconds}` }, { database: await createDatabase() })
})

const newClient = (options?: ClientOptions) => openClient(service, { backoff, ...options })
const newPerson = async () => {
  const email = `${randomUUID()}@example.com`
  await newClient().call("POST /users", { body: { email, password } })
  return { email, password }
}
const emit = async (on: TestService, channel: string, data: unknown) => {
  const events = JSON.stringify([{ channel, type: "test.happened", data }])
  const [row] = await on.sql<[{ given: Array<ChannelPosition> }]>`
    select put_events(${events}::text::jsonb) as given`
  const publisher = await on.runtime.runPromise(Publisher)
  publisher.moved(row.given)
}

/** Records the states and events of a channel. */
const listen = () => {
  const states: Array<unknown> = []
  const events: Array<EventFrame> = []
  const refusals: Array<string> = []
  return {
    states,
    events,
    refusals,
    handlers: {
      state: (state: unknown) => void states.push(state),
      event: (event: EventFrame) => void events.push(event),
      refused: (code: string) => void refusals.push(code),
    },
  }
}

describe("the client", () => {
  it("logs in, calls operations, throws an `ApiError` for an error response, and logs out", async () => {
    const person = await newPerson()
    const client = newClient()
    expect(await client.logIn(person)).toEqual({ requires2fa: undefined })
    const account = await client.call("GET /account")
    expect(account.user.email).toBe(person.email)
    const refused = await client
      .call("GET /user_interests/{emoji_id}", { params: { emoji_id: "🐙" } })
      .catch((e) => e)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({ status: 404, code: "not_found" })
    expect(refused.requestId).not.toBe("")
    await client.logOut()
    await expect(client.call("GET /account")).rejects.toMatchObject({ status: 401 })
  })

  it("refreshes the token once when many calls fail with 401 at the same time", async () => {
    const person = await newPerson()
    const first = newClient()
    await first.logIn(person)
    let renewals = 0
    let refreshToken = ""
    const login = await service.call("POST", "/auth/token", { body: person })
    const client = newClient({
      refreshToken: login.body.refresh_token,
      accessToken: "stale",
      onTokens: (tokens: { refreshToken: string } | undefined) => {
        renewals++
        refreshToken = tokens?.refreshToken ?? ""
      },
    })
    const accounts = await Promise.all(Array.from({ length: 5 }, () => client.call("GET /account")))
    expect(accounts.map(({ user }) => user.email)).toEqual(Array(5).fill(person.email))
    expect(renewals).toBe(1)
    expect(refreshToken).not.toBe(login.body.refresh_token)
  })
})

describe("the live connection of a client", () => {
  it("delivers the state and then the events to two listeners that spell the same id differently", async () => {
    const client = newClient()
    const [one, two] = [listen(), listen()]
    client.live.subscribe("emoji_id:❤️", one.handlers)
    const endTwo = client.live.subscribe("emoji_id:❤", two.handlers)
    await until(() => one.states.length > 0 && two.states.length > 0)
    await emit(service, "emoji_id:❤️", { n: 1 })
    await until(() => one.events.length === 1 && two.events.length === 1)
    endTwo()
    await emit(service, "emoji_id:❤️", { n: 2 })
    await until(() => one.events.length === 2)
    expect(two.events).toHaveLength(1)
  })

  it("resumes after lost connections and delivers each event once", async () => {
    let socket: WebSocket | undefined
    class Watched extends WebSocket {
      constructor(url: string) {
        super(url)
        socket = this
      }
    }
    const client = newClient({ WebSocket: Watched })
    const log = listen()
    client.live.subscribe("emoji_id:🌊🌊", log.handlers)
    await until(() => log.states.length === 1)
    for (let n = 1; n <= 30; n++) {
      await emit(service, "emoji_id:🌊🌊", { n })
      if (n % 10 === 0) socket?.terminate()
    }
    await until(() => log.events.length === 30)
    expect(log.events.map(({ offset }) => offset)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1))
    expect(log.states).toHaveLength(1)
  })

  it("delivers the state again when the missed events are deleted before the reconnect to another process", async () => {
    // The process that the client was connected to keeps recent events in memory.
    const other = await serve({}, { database: service.database })
    let isAway = false
    let isMoved = false
    let socket: WebSocket | undefined
    class Watched extends WebSocket {
      constructor(url: string) {
        super(
          isAway ? "ws://127.0.0.1:1" : isMoved ? url.replace(service.url.slice(7), other.url.slice(7)) : url,
        )
        socket = this
      }
    }
    const client = newClient({ WebSocket: Watched })
    const log = listen()
    client.live.subscribe("emoji_id:🌊🚀", log.handlers)
    await until(() => log.states.length === 1)
    isAway = true
    socket?.terminate()
    for (let n = 1; n <= 3; n++) await emit(service, "emoji_id:🌊🚀", { n })
    await service.sql`delete from event where channel = 'emoji_id:🌊🚀' and "offset" < 3`
    isMoved = true
    isAway = false
    await until(() => log.states.length === 2)
    expect(log.events).toEqual([])
  })

  it("stays open when the access token is renewed, and becomes `logged_out` when the user logs out elsewhere", async () => {
    const person = await newPerson()
    // A token is renewed when a fifth of its lifetime remains. A busy machine may need a longer lifetime.
    const { client, node } = await inTime(tokenSeconds, async (seconds) => {
      const node = await serve({ ACCESS_TOKEN_SECONDS: `${seconds}` }, { database: service.database })
      const statuses: Array<string> = []
      const onLiveStatus = (status: string) => void statuses.push(status)
      const client = openClient(node, { backoff, onLiveStatus })
      await client.logIn(person)
      const { user } = await client.call("GET /account")
      const log = listen()
      client.live.subscribe("cart", log.handlers)
      await until(() => log.states.length === 1)
      await sleep(1000 * seconds + 500)
      await emit(node, `cart:${user.id}`, { n: 1 })
      await until(() => log.events.length === 1)
      // The token was renewed on the open socket, without a reconnect.
      return statuses.join() === "connecting,connected" ? { client, node } : undefined
    })
    await node.call("POST", "/logout", {
      token: (await node.call("POST", "/auth/token", { body: person })).body.access_token,
    })
    await until(() => client.live.status === "logged_out")
  })

  it("reports why a subscription is rejected", async () => {
    const client = newClient()
    const log = listen()
    client.live.subscribe("cart", log.handlers)
    client.live.subscribe("emoji_id:nonsense", log.handlers)
    await until(() => log.refusals.length === 2)
    expect(log.refusals.sort()).toEqual(["login_required", "unknown_channel"])
  })

  it("reports the records of a watched id again after a change, and looks up ids", async () => {
    const owner = await service.user()
    const [id, typed] = ["❤️🚀🌊", "❤🚀🌊"]
    await service.sql`insert into emoji_id (canonical, owner_id, source) values (${id}, ${owner.id}, 'test')`
    await service.sql`insert into record (canonical, hash, tag, data) values (${id}, 'a', ${0x1003}, 'first')`
    const client = newClient()
    const found: Array<LookupResult> = []
    client.watchId(typed, (result) => void found.push(result))
    await until(() => found.length === 1)
    expect(found[0]?.result.map(({ data }) => data)).toEqual(["first"])
    await service.sql`update record set data = 'second' where canonical = ${id}`
    await emit(service, `emoji_id:${id}`, {})
    await until(() => found.length === 2)
    expect(found[1]?.result.map(({ data }) => data)).toEqual(["second"])
    expect(found.map(({ canonical, emoji_id }) => [canonical, emoji_id])).toEqual([
      [id, typed],
      [id, typed],
    ])
    expect((await client.live.lookup([id, "?"])).map(({ status }) => status)).toEqual([true, false])
  })

  it("reconnects to another process when the connected process stops, and misses no event", async () => {
    const { database } = service
    const leaving = await serve({}, { database })
    const staying = await serve({}, { database })
    let url = leaving.url
    class Balanced extends WebSocket {
      constructor() {
        super(`${url.replace("http", "ws")}/live`)
      }
    }
    const client = newClient({ WebSocket: Balanced })
    const log = listen()
    client.live.subscribe("emoji_id:🚀🌊🚀", log.handlers)
    await until(() => log.states.length === 1)
    url = staying.url
    await Promise.all([leaving.stop(), emit(staying, "emoji_id:🚀🌊🚀", { n: 1 })])
    await until(() => log.events.length === 1)
    expect(log.states).toHaveLength(1)
    await staying.stop()
  })
})

describe("the delay before a reconnect", () => {
  it("is random, between zero and a bound that doubles up to a limit", () => {
    const bounds = Array.from({ length: 8 }, (_, n) =>
      delayMs({ firstMs: 500, longestMs: 30_000 }, n, () => 1),
    )
    expect(bounds).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect(delayMs({ firstMs: 500, longestMs: 30_000 }, 3, () => 0)).toBe(0)
  })
})
