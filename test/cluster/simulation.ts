import { Member } from "../../src/cluster/invalidation-protocol.ts"
import type { LeaseRequest } from "../../src/cluster/member-store.ts"
import type { Message } from "../../src/cluster/message.ts"
import type { OpenWrite } from "../../src/cluster/open-writes.ts"
import type { Fence } from "../../src/postgres/fence.ts"
import { EventQueue } from "./event-queue.ts"
import { SimulatedDatabase } from "./simulated-database.ts"

const LEASE_MS = 100
const RENEW_MS = 25
const MARK_MS = 300
const KEYS = ["a", "b"]
const topic = "topic"

interface Load {
  readonly key: string
  readonly floors: Array<number>
  isDisowned: boolean
}

interface Node {
  readonly id: string
  readonly member: Member
  readonly cache: Map<string, number>
  readonly loads: Set<Load>
  /** The monotonic clock. It starts at a random time and runs up to half a percent fast or slow. */
  readonly clock: () => number
  isDead: boolean
  isLeaving: boolean
  isCalling: boolean
  writes: number
  stalledUntil: number
  /** It receives no messages until this time. */
  deafUntil: number
  /** Its statements and messages do not reach the database until this time. */
  cutUntil: number
}

export interface WorldOptions {
  /** Makes the database ignore fences, to see that the oracle notices. */
  readonly withoutFences?: boolean
}

/**
 * Simulates processes with caches and a database in virtual time. Every step takes a random time. Messages are lost,
 * delayed and repeated, and processes stall, start, leave and die.
 *
 * Throws if a lookup returns an older version than one that was returned or acknowledged before the lookup began, or if a
 * process may answer from its cache with a version that a committed write has replaced.
 */
export class World {
  answered = 0
  fromCache = 0
  written = 0
  refused = 0
  isCalm = false
  readonly #events: EventQueue
  readonly #random: () => number
  readonly #database: SimulatedDatabase
  readonly #nodes: Array<Node> = []
  readonly #floor = new Map<string, number>()
  readonly #processes: number
  readonly #options: WorldOptions

  constructor(seed: number, options: WorldOptions = {}) {
    this.#options = options
    this.#events = new EventQueue(seed)
    this.#random = this.#events.random
    this.#database = new SimulatedDatabase(this.#events, {
      delay: () => this.#delay(),
      onCommit: (key, version) => this.#checkCaches(key, version),
    })
    this.#processes = 2 + Math.floor(this.#random() * 3)
    for (let i = 0; i < this.#processes; i++) this.#start()
  }

  run(untilMs: number): void {
    this.#events.run(untilMs)
  }

  get alive(): ReadonlyArray<Node> {
    return this.#nodes.filter(({ isDead }) => !isDead)
  }

  mayServe(node: Node): boolean {
    return node.member.lease.isValid(node.clock())
  }

  #raise(key: string, version: number): void {
    this.#floor.set(key, Math.max(version, this.#floor.get(key) ?? 0))
  }

  #check(node: Node, key: string, version: number, floor: number): void {
    this.answered += 1
    if (version < floor)
      throw new Error(`${node.id} answered ${key}@${version} after ${key}@${floor}, at ${this.#events.now}`)
    this.#raise(key, version)
  }

  #checkCaches(key: string, version: number): void {
    for (const node of this.alive) {
      const cached = node.cache.get(key)
      if (cached !== undefined && cached < version && this.mayServe(node))
        throw new Error(`${node.id} caches ${key}@${cached} although ${key}@${version} is committed`)
    }
  }

  #delay(): number {
    const dice = this.#random()
    if (this.isCalm || dice < 0.93) return this.#random() * 2
    return this.#random() * (dice < 0.99 ? LEASE_MS / 2 : 2 * LEASE_MS)
  }

  #start(): void {
    const startedAt = this.#events.now - this.#random() * 10_000
    const rate = 1 + (this.#random() - 0.5) / 100
    const id = `n${this.#nodes.length}`
    const node: Node = {
      id,
      member: new Member({
        id,
        leaseMs: LEASE_MS,
        renewMs: RENEW_MS,
        markMs: MARK_MS,
        isGuest: this.#random() < 0.15,
        oldReleaseUntil: () => Number.NEGATIVE_INFINITY,
        databaseGeneration: () => 0,
        random: this.#random,
        onGap: () => {},
        onWaited: () => {},
        onDrop: (drop) => {
          for (const key of drop === "all" ? KEYS : drop.map(([, key]) => key)) this.#forget(node, key)
        },
      }),
      cache: new Map(),
      loads: new Set(),
      clock: () => (this.#events.now - startedAt) * rate,
      isDead: false,
      isLeaving: false,
      isCalling: false,
      writes: 0,
      stalledUntil: 0,
      deafUntil: 0,
      cutUntil: 0,
    }
    this.#nodes.push(node)
    const repeat = (every: () => number, run: () => void): void =>
      this.#in(node, every(), () => {
        run()
        repeat(every, run)
      })
    repeat(
      () => 5,
      () => this.#tick(node),
    )
    repeat(
      () => this.#random() * 4,
      () => this.#lookUp(node),
    )
    repeat(
      () => this.#random() * 60,
      () => this.#write(node),
    )
    repeat(
      () => this.#random() * 600,
      () => this.#fail(node),
    )
  }

  /** Runs a step of the process after the delay. If the process is stalled then, the step runs when it continues. */
  #in(node: Node, delayMs: number, run: () => void): void {
    const attempt = () => {
      if (node.isDead) return
      if (node.stalledUntil <= this.#events.now) run()
      else this.#events.at(node.stalledUntil + this.#random(), attempt)
    }
    this.#events.at(this.#events.now + delayMs, attempt)
  }

  #tick(node: Node): void {
    node.member.settle(node.clock())
    this.#send(node)
    const call = node.isCalling ? undefined : node.member.lease.next(node.clock())
    if (call !== undefined) this.#call(node, call)
    if (node.isLeaving && node.writes === 0 && !node.isCalling) {
      node.member.lease.leave()
      this.#call(node, "leave", () => {
        this.#broadcast(node, { from: node.id, bye: true })
        node.isDead = true
      })
    }
  }

  #call(node: Node, call: "watch" | "join" | "renew" | "leave", then = () => {}): void {
    node.isCalling = true
    node.member.sending(call, node.clock())
    const request: LeaseRequest = {
      id: node.id,
      leaseMs: LEASE_MS,
      deaf: false,
      openFrom: node.member.openFrom,
      joined: node.member.lease.joinNumber,
      held: node.member.marks.unannounced,
    }
    const isCut =
      node.cutUntil > this.#events.now || (!this.isCalm && this.#random() < (call === "leave" ? 0.4 : 0.02))
    const isHalfCut = isCut && this.#random() < 0.5
    // A statement without an answer may still be committed later.
    if (isCut) this.#in(node, LEASE_MS, () => (node.isCalling = false))
    if (isCut && !isHalfCut) {
      then()
      return
    }
    // A process that has given up a leave may join again before the leave runs.
    const isLate = isCut && call === "leave"
    const delay = isLate ? LEASE_MS * (1 + 0.6 * this.#random()) : this.#delay()
    this.#events.at(this.#events.now + delay, () =>
      this.#database.call(call, request, (view) => {
        if (isCut) return
        this.#in(node, this.#delay(), () => {
          node.isCalling = false
          if (call !== "leave") node.member.answered(call, view, node.clock())
          this.#send(node)
          then()
        })
      }),
    )
  }

  #send(node: Node): void {
    for (const [to, content] of node.member.takeDirect(100, 8000)) {
      const receiver = this.#nodes.find(({ id }) => id === to)
      if (receiver !== undefined) this.#post(node, receiver, { from: node.id, ...content })
    }
    for (;;) {
      const content = node.member.takeBroadcast(8000)
      if (content === undefined) return
      this.#broadcast(node, { from: node.id, ...content })
    }
  }

  #broadcast(node: Node, message: Message): void {
    for (const other of this.alive) this.#post(node, other, message)
  }

  #post(from: Node, to: Node, message: Message): void {
    if (from.cutUntil > this.#events.now) return
    this.#deliver(to, message)
    if (!this.isCalm && this.#random() < 0.05) this.#deliver(to, message)
  }

  #deliver(node: Node, message: Message): void {
    if (!this.isCalm && this.#random() < 0.05) return
    this.#in(node, this.#delay(), () => {
      if (node.deafUntil > this.#events.now) return
      node.member.receive(message, node.clock())
      this.#send(node)
    })
  }

  #lookUp(node: Node): void {
    const key = KEYS[Math.floor(this.#random() * KEYS.length)]!
    const floor = this.#floor.get(key) ?? 0
    const cached = node.cache.get(key)
    if (cached !== undefined && this.mayServe(node)) {
      this.fromCache += 1
      this.#check(node, key, cached, floor)
      return
    }
    if (node.cutUntil > this.#events.now) return
    const isShared = this.mayServe(node) && !node.member.marks.isMarked(topic, key)
    const running = [...node.loads].find((load) => load.key === key)
    if (isShared && running !== undefined) {
      running.floors.push(floor)
      return
    }
    if (running !== undefined) running.isDisowned = true
    const load: Load = { key, floors: [floor], isDisowned: false }
    if (running !== undefined) node.loads.delete(running)
    node.loads.add(load)
    this.#events.at(this.#events.now + this.#delay(), () => {
      const version = this.#database.versions.get(key) ?? 0
      this.#in(node, this.#delay(), () => {
        node.loads.delete(load)
        if (!load.isDisowned && !node.member.marks.isMarked(topic, key)) node.cache.set(key, version)
        for (const each of load.floors) this.#check(node, key, version, each)
      })
    })
  }

  #write(node: Node): void {
    if (this.isCalm || node.isLeaving || node.cutUntil > this.#events.now) return
    const key = KEYS[Math.floor(this.#random() * KEYS.length)]!
    node.writes += 1
    const write = node.member.open([[topic, key]], node.clock())
    this.#attempt(node, key, write)
    this.#send(node)
  }

  #attempt(node: Node, key: string, write: OpenWrite): void {
    const end = (isKnown: boolean) => {
      node.writes -= 1
      node.member.end(write, isKnown)
      this.#send(node)
    }
    node.member.whenAcknowledged(write, node.clock(), (given) => {
      const fence: Fence = this.#options.withoutFences
        ? { acked: this.#nodes.map(({ id }) => id), deadline: Number.POSITIVE_INFINITY }
        : given
      const isLost = !this.isCalm && this.#random() < 0.05
      const runsFor = this.#random() < 0.03 ? this.#random() * 2 * MARK_MS : this.#delay()
      // The process may be stalled between the acknowledgement and the statement.
      this.#in(node, this.#random() < 0.03 ? this.#random() * 2 * MARK_MS : this.#delay(), () => {
        if (isLost) this.#in(node, this.#delay(), () => end(false))
        this.#events.at(this.#events.now + this.#delay(), () =>
          this.#database.write(key, fence, runsFor, (result) => {
            if (isLost) return
            this.#in(node, this.#delay(), () => {
              if ("version" in result) {
                this.written += 1
                this.#raise(key, result.version)
                return end(true)
              }
              this.refused += 1
              node.member.refused(write, result.silent, false, node.clock())
              this.#attempt(node, key, write)
              this.#send(node)
            })
          }),
        )
      })
    })
    this.#send(node)
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
    if (dice < 0.3) node.stalledUntil = this.#events.now + forMs
    else if (dice < 0.6) {
      node.deafUntil = this.#events.now + forMs
      if (dice > 0.5) node.cutUntil = node.deafUntil
    } else if (dice < 0.75 && alive < this.#processes) this.#start()
    else if (dice < 0.9 && alive > 1) node.isDead = true
    else if (dice < 0.95 && alive > 1) node.isLeaving = true
  }
}
