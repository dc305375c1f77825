import { InvalidationProtocol } from "../../src/cluster/invalidation-protocol.ts"
import type { Message } from "../../src/cluster/message.ts"

const LEASE_MS = 100
const HEARTBEAT_MS = 20
const STATEMENT_MS = 400
const KEYS = ["a", "b", "c"]

interface Load {
  readonly key: string
  version: number
  isDisowned: boolean
}

interface Node {
  readonly id: string
  readonly protocol: InvalidationProtocol
  readonly cache: Map<string, number>
  readonly loads: Set<Load>
  /** The monotonic clock. It starts at a random time and runs up to half a percent fast or slow. */
  readonly clock: () => number
  isDead: boolean
  isLeaving: boolean
  writesUnderWay: number
  isPublishing: boolean
  stalledUntil: number
  /**
   * The listening connection is down until this time. Messages that were sent before this time, and not
   * read before the connection broke, are lost for this process.
   */
  deafUntil: number
  /** Statements do not reach the database until this time. */
  cutUntil: number
  read: number
}

/**
 * Simulates processes, a log and a database in virtual time. Every step takes a random time, and processes may stall,
 * be disconnected or die. Throws if a process serves a cached value that an acknowledged write has replaced.
 */
export class World {
  now = 0
  served = 0
  acknowledged = 0
  readonly nodes: Array<Node> = []
  readonly #random: () => number
  readonly #processes: number
  readonly #events: Array<{ at: number; run: () => void }> = []
  readonly #log: Array<Message> = []
  readonly #truth = new Map<string, number>(KEYS.map((key) => [key, 0]))
  readonly #promised = new Map<string, number>(KEYS.map((key) => [key, 0]))
  isCalm = false

  constructor(seed: number) {
    let state = seed >>> 0
    this.#random = () => {
      state = (state + 0x6d2b79f5) >>> 0
      let x = Math.imul(state ^ (state >>> 15), 1 | state)
      x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
      return ((x ^ (x >>> 14)) >>> 0) / 4294967296
    }
    this.#processes = 2 + Math.floor(this.#random() * 3)
    this.start()
  }

  run(untilMs: number): void {
    for (;;) {
      let next = -1
      for (const [index, event] of this.#events.entries()) {
        if (event.at <= untilMs && (next === -1 || event.at < this.#events[next]!.at)) next = index
      }
      if (next === -1) break
      const [event] = this.#events.splice(next, 1)
      this.now = Math.max(this.now, event!.at)
      event!.run()
    }
    this.now = untilMs
  }

  start(): Node {
    const startedAt = this.now - this.#random() * 10_000
    const rate = 1 + (this.#random() - 0.5) / 100
    const id = `n${this.nodes.length}`
    const node: Node = {
      id,
      protocol: new InvalidationProtocol({
        id,
        leaseMs: LEASE_MS,
        statementMs: STATEMENT_MS,
        maxBytes: 8_000,
        onGap: () => {},
        onDrop: (drop) => {
          const keys = drop === "all" ? KEYS : drop.map(([, key]) => key)
          for (const key of keys) this.#forget(node, key)
        },
      }),
      cache: new Map(),
      loads: new Set(),
      clock: () => (this.now - startedAt) * rate,
      isDead: false,
      isLeaving: false,
      writesUnderWay: 0,
      isPublishing: false,
      stalledUntil: 0,
      deafUntil: 0,
      cutUntil: 0,
      read: this.#log.length,
    }
    this.nodes.push(node)
    this.#repeat(
      node,
      () => HEARTBEAT_MS,
      () => {
        node.protocol.heartbeat(node.clock())
        this.#publish(node)
      },
    )
    this.#repeat(
      node,
      () => this.#delay(),
      () => this.#listen(node),
    )
    this.#repeat(
      node,
      () => this.#random() * 4,
      () => this.#lookUp(node),
    )
    this.#repeat(
      node,
      () => this.#random() * 100,
      () => this.#write(node),
    )
    this.#repeat(
      node,
      () => this.#random() * 800,
      () => this.#fail(node),
    )
    return node
  }

  get alive(): ReadonlyArray<Node> {
    return this.nodes.filter(({ isDead }) => !isDead)
  }

  /** Returns the keys whose cached values the process would serve although the database has other values. */
  staleAt(node: Node): ReadonlyArray<string> {
    if (!node.protocol.mayServe(node.clock())) return []
    return KEYS.filter((key) => node.cache.has(key) && node.cache.get(key) !== this.#truth.get(key))
  }

  #repeat(node: Node, every: () => number, run: () => void): void {
    this.#in(node, every(), () => {
      run()
      this.#repeat(node, every, run)
    })
  }

  /**
   * Runs a step of the process after the delay. If the process is stalled at that time, the step runs when the process
   * continues. Steps that were delayed by a stall run in random order.
   */
  #in(node: Node, delayMs: number, run: () => void): void {
    const attempt = () => {
      if (node.isDead) return
      if (node.stalledUntil <= this.now) run()
      else this.#events.push({ at: node.stalledUntil + this.#random(), run: attempt })
    }
    this.#events.push({ at: this.now + delayMs, run: attempt })
  }

  #delay(): number {
    const dice = this.#random()
    if (this.isCalm || dice < 0.9) return this.#random() * 3
    return this.#random() * (dice < 0.99 ? LEASE_MS / 2 : 2 * LEASE_MS)
  }

  #publish(node: Node): void {
    if (node.isPublishing || !node.protocol.isDue) return
    node.isPublishing = true
    const message = node.protocol.write(node.clock())
    const attempt = () => {
      const fails = !this.isCalm && this.#random() < 0.03
      const isCut = node.cutUntil > this.now
      if (!isCut && !(fails && this.#random() < 0.5)) {
        const at = this.now + this.#delay()
        this.#events.push({ at, run: () => this.#log.push(message) })
        if (!fails) {
          this.#in(node, at - this.now + this.#delay(), () => {
            node.isPublishing = false
            node.protocol.logged(message.number, node.clock())
            if (message.bye) node.isDead = true
            this.#publish(node)
          })
          return
        }
      }
      this.#in(node, HEARTBEAT_MS / 4, attempt)
    }
    attempt()
  }

  #listen(node: Node): void {
    if (node.deafUntil > this.now) return
    if (node.read === -1) {
      node.read = this.#log.length
      node.protocol.gap()
    }
    const until = node.read + Math.ceil(this.#random() * 20)
    for (; node.read < Math.min(until, this.#log.length); node.read += 1) {
      node.protocol.receive(this.#log[node.read]!, node.clock())
    }
    this.#publish(node)
  }

  #lookUp(node: Node): void {
    const key = KEYS[Math.floor(this.#random() * KEYS.length)]!
    const cached = node.cache.get(key)
    if (cached !== undefined && node.protocol.mayServe(node.clock())) {
      this.served += 1
      const promised = this.#promised.get(key)!
      if (cached < promised)
        throw new Error(`${node.id} served ${key}@${cached}, promised ${promised}, at ${this.now}`)
      return
    }
    if (node.cutUntil > this.now || [...node.loads].some((load) => load.key === key)) return
    const load: Load = { key, version: -1, isDisowned: false }
    node.loads.add(load)
    const readIn = this.#delay()
    this.#events.push({ at: this.now + readIn, run: () => (load.version = this.#truth.get(key)!) })
    this.#in(node, readIn + this.#delay(), () => {
      node.loads.delete(load)
      if (!load.isDisowned) node.cache.set(key, load.version)
    })
  }

  #write(node: Node): void {
    if (this.isCalm || node.isLeaving || node.cutUntil > this.now) return
    const key = KEYS[Math.floor(this.#random() * KEYS.length)]!
    let version = 0
    const commitIn = this.#random() < 0.02 ? (this.#random() * STATEMENT_MS) / 2 : this.#delay()
    this.#events.push({
      at: this.now + commitIn,
      run: () => {
        version = this.#truth.get(key)! + 1
        this.#truth.set(key, version)
      },
    })
    node.writesUnderWay += 1
    const answer = () => {
      // If the connection is down, the response is lost and the outcome of the write is unknown. The key is then
      // invalidated when the connection is back, but later reads need not return this write.
      if (node.cutUntil > this.now) return this.#in(node, node.cutUntil - this.now, announce)
      announce(() => this.#promised.set(key, Math.max(version, this.#promised.get(key)!)))
    }
    const announce = (promise?: () => void) => {
      this.#forget(node, key)
      node.protocol.invalidate([["topic", key]], node.clock(), () => {
        node.writesUnderWay -= 1
        this.acknowledged += 1
        promise?.()
        this.#leaveWhenIdle(node)
      })
      this.#publish(node)
    }
    this.#in(node, commitIn + this.#delay(), answer)
  }

  #leaveWhenIdle(node: Node): void {
    if (!node.isLeaving || node.writesUnderWay > 0) return
    node.protocol.leave()
    this.#publish(node)
  }

  #forget(node: Node, key: string): void {
    node.cache.delete(key)
    for (const load of node.loads) {
      if (load.key !== key) continue
      load.isDisowned = true
      node.loads.delete(load)
    }
  }

  #fail(node: Node): void {
    if (this.isCalm || node.isLeaving) return
    const forMs = this.#random() * (this.#random() < 0.6 ? 1.2 : 5) * LEASE_MS
    const dice = this.#random()
    const alive = this.alive.length
    if (dice < 0.3) node.stalledUntil = this.now + forMs
    else if (dice < 0.6) {
      node.read = -1
      node.deafUntil = this.now + forMs
      if (dice > 0.5) node.cutUntil = node.deafUntil
    } else if (dice < 0.75 && alive < this.#processes) this.start()
    else if (dice < 0.9 && alive > 1) node.isDead = true
    else if (dice < 0.95 && alive > 1) {
      node.isLeaving = true
      this.#leaveWhenIdle(node)
    }
  }
}
