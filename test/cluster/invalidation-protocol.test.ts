import { describe, expect, it } from "vitest"
import { InvalidationProtocol } from "../../src/cluster/invalidation-protocol.ts"
import type { Message } from "../../src/cluster/message.ts"

const LEASE_MS = 100
const HEARTBEAT_MS = 20
const STATEMENT_MS = 1_000

/** Processes and a shared log of messages. The test decides when each process reads, and sets the time. */
const setUp = () => {
  const log: Array<Message> = []
  const start = (id: string, maxBytes = 8_000) => {
    const drops: Array<string> = []
    let gaps = 0
    let read = log.length
    const protocol = new InvalidationProtocol({
      id,
      leaseMs: LEASE_MS,
      statementMs: STATEMENT_MS,
      maxBytes,
      onDrop: (drop) => drops.push(drop === "all" ? "all" : drop.map(([, key]) => key).join()),
      onGap: () => {
        gaps += 1
      },
    })
    const node = {
      protocol,
      drops,
      gaps: () => gaps,
      mayServe: (now: number) => protocol.mayServe(now),
      write: (now: number) => {
        const message = protocol.write(now)
        log.push(message)
        protocol.logged(message.number, now)
        return message
      },
      receive: (now: number, until = log.length) => {
        for (; read < until; read += 1) protocol.receive(log[read]!, now)
      },
      miss: () => {
        read = log.length
      },
      invalidate: (now: number, ...keys: ReadonlyArray<string>) => {
        const wait = { isDone: false }
        protocol.invalidate(
          keys.map((key) => ["topic", key]),
          now,
          () => {
            wait.isDone = true
          },
        )
        return wait
      },
    }
    return node
  }
  type Node = ReturnType<typeof start>
  const live = (from: number, until: number, ...nodes: ReadonlyArray<Node>) => {
    for (let now = from; now <= until; now += HEARTBEAT_MS) {
      for (const node of nodes) {
        node.protocol.heartbeat(now)
        node.write(now)
      }
      for (const node of nodes) node.receive(now)
    }
    for (const node of nodes) node.drops.length = 0
  }
  return { log, start, live }
}

describe("many processes", () => {
  it("acknowledge a write although one message cannot hold all acknowledgements", () => {
    const { log, start, live } = setUp()
    const maxBytes = 400
    const nodes = Array.from({ length: 40 }, (_, i) => start(`node-${i}`, maxBytes))
    const [writer, ...others] = nodes
    live(0, 400, ...nodes)
    expect(nodes.every((node) => node.mayServe(401))).toBe(true)
    for (const message of log) expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(maxBytes)
    const write = writer!.invalidate(401, "x")
    writer!.write(401)
    for (const node of others) node.receive(402)
    expect(others.every((node) => node.drops.includes("x"))).toBe(true)
    // The processes run for less than a lease here, so the write cannot have completed because of a timeout.
    live(403, 403 + 4 * HEARTBEAT_MS, ...nodes)
    expect(write.isDone).toBe(true)
  })
})

describe("the lease that lets a process use its caches", () => {
  it("starts when the process has listened for the duration of a lease, and then caches are emptied", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 100, node)
    expect(node.mayServe(100)).toBe(false)
    node.write(120)
    node.receive(121)
    expect(node.mayServe(121)).toBe(true)
    expect(node.drops).toEqual(["all"])
  })

  it("is counted from the time a heartbeat is written, not from the time the heartbeat is read back", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    node.write(220)
    node.receive(290)
    expect(node.mayServe(319)).toBe(true)
    expect(node.mayServe(320)).toBe(false)
  })

  it("that expired starts again only after the full duration of a lease, and then caches are emptied", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    node.write(350)
    node.receive(350)
    expect(node.mayServe(350)).toBe(false)
    live(370, 430, node)
    expect(node.mayServe(430)).toBe(false)
    node.write(460)
    node.receive(460)
    expect(node.mayServe(460)).toBe(true)
    expect(node.drops).toEqual(["all"])
  })

  it("ends when messages may have been missed, and all caches are dropped immediately", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    const gaps = node.gaps()
    node.protocol.gap()
    expect(node.drops).toEqual(["all"])
    expect(node.gaps()).toBe(gaps + 1)
    node.write(210)
    node.receive(210)
    expect(node.mayServe(210)).toBe(false)
    live(230, 330, node)
    expect(node.mayServe(330)).toBe(true)
  })

  it("ends when the process stops", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    node.protocol.leave()
    expect(node.mayServe(200)).toBe(false)
  })
})

describe("a write", () => {
  it("completes immediately and without a message when no other process runs", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    expect(node.invalidate(201, "x").isDone).toBe(true)
    expect(node.protocol.isDue).toBe(false)
  })

  it("completes when the other process has dropped the keys and sent an acknowledgement", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    const wait = a.invalidate(301, "x", "y")
    a.write(301)
    a.receive(302)
    expect(wait.isDone).toBe(false)
    b.receive(303)
    expect(b.drops).toEqual(["x,y"])
    expect(b.protocol.isDue).toBe(true)
    b.write(303)
    a.receive(304)
    expect(wait.isDone).toBe(true)
  })

  it("waits for the duration of a lease if the other process is silent", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    const wait = a.invalidate(301, "x")
    live(301, 381, a)
    expect(wait.isDone).toBe(false)
    live(401, 421, a)
    expect(wait.isDone).toBe(true)
    expect(b.mayServe(401)).toBe(false)
  })

  it("does not wait for a process that only sends messages, but waits again when that process also receives messages", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    const deaf = (from: number, until: number) => {
      for (let now = from; now <= until; now += HEARTBEAT_MS) {
        for (const node of [a, b]) node.write(now)
        a.receive(now)
      }
    }
    deaf(320, 420)
    expect(b.mayServe(420)).toBe(false)
    const wait = a.invalidate(421, "x")
    deaf(421, 421)
    expect(wait.isDone).toBe(true)
    live(440, 460, a, b)
    expect(b.mayServe(460)).toBe(false)
    const second = a.invalidate(461, "x")
    a.write(461)
    a.receive(461)
    expect(second.isDone).toBe(false)
  })

  it("waits for the duration of a lease if its process has just started and may not know all processes", () => {
    const { start, live } = setUp()
    const b = start("b")
    live(0, 200, b)
    const a = start("a")
    const wait = a.invalidate(201, "x")
    a.write(201)
    a.receive(202)
    expect(wait.isDone).toBe(false)
    a.protocol.heartbeat(304)
    expect(wait.isDone).toBe(true)
    expect(b.mayServe(304)).toBe(false)
  })

  it("whose message cannot be sent waits until the other process counts the writing process as lost", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    const wait = a.invalidate(301, "x")
    live(301, 601, b)
    a.protocol.heartbeat(601)
    expect(wait.isDone).toBe(false)
    expect(b.protocol.counters.lost).toBe(1)
    a.protocol.heartbeat(710)
    expect(wait.isDone).toBe(true)
  })

  it("sends several messages if its keys do not fit into one, and completes after the last message", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a", 1_000), start("b", 1_000)]
    live(0, 300, a, b)
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index} 🐙`)
    const wait = a.invalidate(301, ...keys)
    let messages = 0
    for (; a.protocol.isDue; messages += 1) {
      expect(wait.isDone).toBe(false)
      expect(Buffer.byteLength(JSON.stringify(a.write(301)))).toBeLessThanOrEqual(1_000)
      b.receive(301)
      b.write(301)
      a.receive(301)
    }
    expect(messages).toBeGreaterThan(2)
    expect(wait.isDone).toBe(true)
    expect(b.drops.join()).toBe(keys.join())
  })

  it("drops whole caches if it has too many keys or a key that is too long", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    const waits = [
      a.invalidate(301, "x"),
      a.invalidate(301, ...Array.from({ length: 6_000 }, (_, index) => `${index}`)),
      a.invalidate(301, "y".repeat(9_000)),
    ]
    a.write(301)
    expect(a.protocol.isDue).toBe(false)
    b.receive(301)
    expect(b.drops).toEqual(["all"])
    b.write(301)
    a.receive(301)
    expect(waits.every(({ isDone }) => isDone)).toBe(true)
  })
})

describe("another process", () => {
  it("that falls silent causes caches to be dropped after a lease, and again when its last statement must have ended", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 1_300, a, b)
    const gaps = a.gaps()
    for (let now = 1_320; now <= 3_000; now += HEARTBEAT_MS) {
      a.write(now)
      a.receive(now)
      if (now === 1_400) expect(a.drops).toEqual([])
      if (now === 1_420) expect(a.drops).toEqual(["all"])
      if (now === 2_400) expect(a.drops).toEqual(["all"])
    }
    expect(a.drops).toEqual(["all", "all"])
    expect(a.gaps()).toBe(gaps + 2)
    expect(a.protocol.isAlone(3_000)).toBe(true)
  })

  it("may have died unnoticed, so a new process drops its caches again after the statement timeout", () => {
    const { start, live } = setUp()
    const node = start("a")
    live(0, 200, node)
    for (let now = 220; now <= 3_000; now += HEARTBEAT_MS) {
      node.write(now)
      node.receive(now)
      if (now === 1_100) expect(node.drops).toEqual([])
    }
    expect(node.drops).toEqual(["all"])
  })

  it("that was lost and has returned must acknowledge writes again, and no message counts as missed", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    live(320, 500, a)
    b.write(510)
    a.receive(511)
    expect(a.protocol.counters.gaps).toBe(0)
    expect(a.invalidate(512, "x").isDone).toBe(false)
  })

  it("that stops need not acknowledge writes, but caches are dropped when its last statement must have ended", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 1_300, a, b)
    b.protocol.leave()
    expect(b.write(1_301).bye).toBe(true)
    a.receive(1_302)
    expect(a.invalidate(1_302, "x").isDone).toBe(true)
    for (let now = 1_320; now <= 3_000; now += HEARTBEAT_MS) {
      a.write(now)
      a.receive(now)
      if (now === 2_400) expect(a.drops).toEqual([])
    }
    expect(a.drops).toEqual(["all"])
    expect(a.protocol.counters).toMatchObject({ peers: 0, lost: 0, gaps: 0 })
  })

  it("is not counted as lost while one of its messages may be unread", () => {
    const { log, start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    live(320, 380, a)
    // Process b renews its lease in time. Process a has read the log only up to its own heartbeat, so it has not read
    // the heartbeat of b yet.
    a.write(397)
    const until = log.length
    b.write(398)
    b.receive(399)
    a.receive(405, until)
    expect(b.mayServe(405)).toBe(true)
    expect(a.mayServe(405)).toBe(true)
    expect(a.invalidate(405, "x").isDone).toBe(false)
  })

  it("numbers its messages, so that a missed message is noticed, even if the process was unknown before", () => {
    const { start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    b.write(301)
    a.miss()
    b.write(302)
    a.receive(303)
    expect(a.drops).toEqual(["all"])
    expect(a.protocol.counters.gaps).toBe(1)
    const c = start("c")
    c.write(304)
    a.miss()
    c.write(305)
    a.receive(306)
    expect(a.protocol.counters.gaps).toBe(2)
  })

  it("can send a message twice, and the second message has no effect", () => {
    const { log, start, live } = setUp()
    const [a, b] = [start("a"), start("b")]
    live(0, 300, a, b)
    b.invalidate(301, "x")
    log.push(b.write(301))
    a.receive(302)
    expect(a.drops).toEqual(["x"])
    expect(a.protocol.counters.gaps).toBe(0)
  })
})
