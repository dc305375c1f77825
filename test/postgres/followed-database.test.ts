import { afterEach, beforeEach, expect, it, vi } from "vitest"
import type { DatabaseServer } from "../../src/config/database-url.ts"
import { FollowedDatabase } from "../../src/postgres/failover/followed-database.ts"
import type { OpenServer } from "../../src/postgres/failover/primary-search.ts"

/** The time of the network. The tests put it forward, so nothing depends on the speed of the machine. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.useRealTimers()
})

const lost = Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" })
const denied = Object.assign(new Error("permission denied"), { code: "42501", severity: "ERROR" })

/** How a simulated server behaves. */
interface Behaviour {
  readonly standby?: true
  readonly timeline?: number
  readonly delayMs?: number
  /** What happens instead of an answer about the timeline. */
  readonly historyError?: Error
  /** The connection accepts the call of `follow_timeline`, and then nothing more arrives. */
  readonly stalls?: true
}

const makeServers = (behaviours: Record<"h1" | "h2", Behaviour>) => {
  const database = new FollowedDatabase("postgres://u@h1,h2/db")
  const never = new Promise<never>(() => {})
  const open = (({ name }: DatabaseServer) => {
    const behaviour = () => behaviours[name.split(":")[0] as "h1" | "h2"]
    const unsafe = async (statement: string) => {
      const { delayMs, historyError, standby = false, timeline } = behaviour()
      if (statement.includes("pg_is_in_recovery")) {
        if (delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, delayMs))
        return [{ standby }]
      }
      if (historyError !== undefined) throw historyError
      return [{ system: "1", timeline }]
    }
    const call = () => (behaviour().stalls ? never : Promise.resolve([]))
    return Object.assign(call, { unsafe, end: () => Promise.resolve() })
  }) as unknown as OpenServer
  /** Searches, while so much time passes. Returns the name of the server, or the reasons. */
  const search = async (ms: number) => {
    let result: unknown = "searching"
    void database.search(open).then((found) => {
      result = "server" in found ? found.server.name : found.reasons
    })
    await vi.advanceTimersByTimeAsync(ms)
    return result
  }
  const change = (changes: Partial<typeof behaviours>) => Object.assign(behaviours, changes)
  return { change, search }
}

it("a connection that stalls while the epoch is renewed ends the search, and the next search succeeds", async () => {
  const { change, search } = makeServers({ h1: { timeline: 1 }, h2: { standby: true } })
  expect(await search(0)).toBe("h1:5432")
  change({ h1: { timeline: 1 }, h2: { timeline: 2, stalls: true } })
  expect(await search(3000)).toEqual(["h2:5432: does not answer"])
  change({ h2: { timeline: 2 } })
  expect(await search(0)).toBe("h2:5432")
})

it("a promoted server is found while the former primary answers faster", async () => {
  const { change, search } = makeServers({ h1: { timeline: 1 }, h2: { standby: true, delayMs: 400 } })
  expect(await search(400)).toBe("h1:5432")
  change({ h2: { timeline: 2, delayMs: 400 } })
  expect(await search(400)).toBe("h2:5432")
  // The former primary is refused, so it does not end the search either.
  expect(await search(400)).toBe("h2:5432")
})

it("at startup all servers are waited for, because the slow one may be the newest primary", async () => {
  const { search } = makeServers({ h1: { timeline: 1 }, h2: { timeline: 2, delayMs: 2900 } })
  expect(await search(2900)).toBe("h2:5432")
})

it("a server that does not answer delays neither the start for long, nor a failover", async () => {
  const { change, search } = makeServers({ h1: { timeline: 1 }, h2: { delayMs: 60_000 } })
  expect(await search(3000)).toBe("h1:5432")
  change({ h1: { delayMs: 60_000 }, h2: { timeline: 2 } })
  expect(await search(300)).toBe("h2:5432")
})

it.each([
  ["the connection breaks", lost, "write CONNECTION_CLOSED"],
  ["the server does not tell it", denied, "is a primary whose timeline cannot be read"],
])(
  "a primary with an unknown timeline is refused after a timeline was known: %s",
  async (_, historyError, reason) => {
    const { change, search } = makeServers({ h1: { standby: true }, h2: { timeline: 2 } })
    expect(await search(0)).toBe("h2:5432")
    change({ h1: { timeline: 1, historyError }, h2: { delayMs: 60_000 } })
    expect(await search(3000)).toEqual([`h1:5432: ${reason}`, "h2:5432: does not answer"])
  },
)

it("a primary whose server tells no timeline is used if none was known, and one with a broken connection is not", async () => {
  const { change, search } = makeServers({
    h1: { timeline: 1, historyError: lost },
    h2: { standby: true },
  })
  expect(await search(0)).toEqual(expect.arrayContaining(["h1:5432: write CONNECTION_CLOSED"]))
  change({ h1: { historyError: denied } })
  expect(await search(0)).toBe("h1:5432")
})
