import { expect, it } from "vitest"
import { Member } from "../../src/cluster/invalidation-protocol.ts"
import type { ClusterView } from "../../src/cluster/message.ts"

const key = ["topic", "key"] as const

/** A member, the time of its clock, and an answer of the database in which these other members have leases. */
const start = (id: string) => {
  const times = { leaseMs: 2000, renewMs: 500, markMs: 10_000 }
  let now = 0
  let generation = 0
  const dropped: Array<unknown> = []
  const member = new Member({
    id,
    ...times,
    isGuest: false,
    oldReleaseUntil: () => Number.NEGATIVE_INFINITY,
    databaseGeneration: () => generation,
    random: () => 0.5,
    onDrop: (drop) => dropped.push(drop),
    onGap: () => {},
    onWaited: () => {},
  })
  const view = (...others: ReadonlyArray<string>): ClusterView => ({
    now,
    xid: 1,
    xmin: 1,
    members: others.map((other) => ({ id: other, remainingMs: 2000, deaf: false, openFrom: 0, held: [] })),
  })
  const hear = (broadcasts = true) => {
    for (const [to, content] of member.takeDirect(100, 8000))
      if (to === id) member.receive({ from: id, ...content }, now)
    const content = member.takeBroadcast(8000)
    if (broadcasts && content !== undefined) member.receive({ from: id, ...content }, now)
  }
  const call = (kind: "watch" | "join" | "renew", others: ReadonlyArray<string> = [], takesMs = 0) => {
    expect(member.lease.next(now)).toBe(kind)
    member.sending(kind, now)
    now += takesMs
    member.answered(kind, view(...others), now)
  }
  return {
    member,
    dropped,
    hear,
    call,
    now: () => now,
    pass: (ms: number) => {
      now += ms
    },
    failOver: () => {
      generation += 1
    },
    isMember: () => member.lease.isValid(now),
    join: (...others: ReadonlyArray<string>) => {
      member.listens()
      call("watch", others)
      hear()
      call("join", others)
      hear()
    },
  }
}

it("a process that does not receive the messages to all does not join", () => {
  const { call, hear, isMember, member, now, pass } = start("a")
  member.listens()
  call("watch")
  hear(false)
  expect(member.lease.next(now())).toBe(undefined)
  pass(500)
  call("watch")
  hear(true)
  call("join")
  expect(isMember()).toBe(true)
})

it("a member that does not receive the messages to all after it has listened again gives up its lease", () => {
  const { call, hear, isMember, join, member, now, pass } = start("a")
  join()
  pass(500)
  call("renew")
  member.listens()
  hear(false)
  pass(999)
  expect(member.lease.next(now())).toBe(undefined)
  pass(1)
  expect(member.lease.next(now())).toBe("leave")
  expect(isMember()).toBe(true)
})

it("a mark that a member has not acknowledged is repeated on the channel of that member", () => {
  const { join, member, now, pass } = start("a")
  join("b", "c")
  const write = member.open([key], now())
  let isAcknowledged = false
  member.whenAcknowledged(write, now(), () => {
    isAcknowledged = true
  })
  const [mark] = member.takeBroadcast(8000)?.marks ?? []
  expect(mark).toBeDefined()
  member.receive({ from: "c", acks: [mark![0]] }, now())
  pass(250)
  member.settle(now())
  expect(member.takeBroadcast(8000)).toBe(undefined)
  expect(member.takeDirect(100, 8000)).toEqual([["b", { marks: [mark] }]])
  member.receive({ from: "b", acks: [mark![0]] }, now())
  expect(isAcknowledged).toBe(true)
})

it("a process that joins receives the marks that were sent before, at once", () => {
  const { join, member, now } = start("a")
  join("b")
  member.whenAcknowledged(member.open([key], now()), now(), () => {})
  const { marks } = member.takeBroadcast(8000) ?? {}
  member.receive({ from: "c", hello: true }, now())
  expect(member.takeDirect(100, 8000)).toEqual([["c", { marks }]])
})

it("a change that is already committed waits for a silent member until the database no longer names that member", () => {
  const { call, hear, join, member, now, pass } = start("a")
  join("b")
  pass(500)
  const write = member.open([key], now(), true)
  let isAcknowledged = false
  member.whenAcknowledged(write, now(), () => {
    isAcknowledged = true
  })
  pass(1)
  call("renew", ["b"])
  hear()
  // The database does not answer for longer than the lease of b, which b may have renewed.
  pass(3000)
  member.settle(now())
  expect(isAcknowledged).toBe(false)
  call("join", [])
  expect(isAcknowledged).toBe(true)
})

it("a member does not leave when the answer to its renewal was slow", () => {
  const { call, hear, join, member, now, pass } = start("a")
  join()
  pass(500)
  call("renew", [], 1200)
  expect(member.lease.next(now())).toBe(undefined)
  hear()
  expect(member.lease.next(now())).toBe("renew")
})

it("a failover ends the lease, and the member drops everything when it joins again", () => {
  const { call, dropped, failOver, hear, isMember, join, member, now, pass } = start("a")
  join()
  dropped.length = 0
  pass(500)
  failOver()
  expect(isMember()).toBe(false)
  call("join")
  expect(dropped).toEqual(["all"])
  expect(isMember()).toBe(true)
  hear()
  // The answer of a renewal that the former server has carried out.
  pass(500)
  expect(member.lease.next(now())).toBe("renew")
  member.sending("renew", now())
  failOver()
  member.answered("renew", { now: now(), xid: 2, xmin: 2, members: [] }, now())
  expect(isMember()).toBe(false)
})

it("the pause after a join that failed is shorter than the interval of renewals", () => {
  const { call, hear, member, now, pass } = start("a")
  member.listens()
  call("watch")
  hear()
  expect(member.lease.next(now())).toBe("join")
  member.sending("join", now())
  expect(member.lease.next(now())).toBe(undefined)
  pass(375)
  expect(member.lease.next(now())).toBe("join")
})
