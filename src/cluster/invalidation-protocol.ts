/**
 * The protocol that lets every process cache data although any process may write. It is pure: no I/O, no clock.
 *
 * Messages go through one log that all processes read in the same order. The log is in the database, so a process that
 * cannot reach the log cannot commit either.
 *
 * 1. Each process sends numbered messages, at least one per heartbeat interval. It sends one at a time and repeats it
 *    until it is logged.
 * 2. When a process reads its own message written at time `t`, it has read everything logged before `t`. It may then
 *    use its caches for one lease, counted from `t` and not from the arrival. So a process that was stalled finds its
 *    lease expired.
 * 3. A process is on probation after a start, after an expired lease and after missed messages. It must listen for a
 *    whole lease, and then uses its caches again, empty at first. So a process that has listened for a lease knows all
 *    processes that may be using caches.
 * 4. A writer commits, then logs the keys to drop. The other processes drop them, then acknowledge. The writer
 *    continues when all processes it knows have acknowledged. A writer on probation waits for one lease instead: a
 *    process that has not read the log by then must not use its caches, because its lease has expired. A writer that
 *    cannot log waits until the others must have noticed its silence (see 6). Writers do not wait for a process that
 *    reports `away`, which means that its lease has expired. Such a process uses its caches again only after it has
 *    logged a message without `away` and has read it back. This is safe in both possible orders. If that message was
 *    logged before the writer's message, the writer has read it too when it reads its own message back, and waits for
 *    the process. If it was logged later, the process has read the writer's message before it uses its caches.
 * 5. A process with a valid lease that knows no other process need not log its writes. A new process that it has not
 *    read about is still on probation.
 * 6. A process without messages for one lease is lost. It may have committed without logging, so all others drop their
 *    caches. They do so again when its last statement must have ended in the database. This second step is also needed
 *    in two other cases: after a last message (`bye`), because it does not end running statements, and after a
 *    probation, because a process may have died unnoticed before it.
 *
 * A cache must check `mayServe` at each use. When keys are dropped, it must also discard the results of running reads.
 */
import type { Message } from "./message.ts"
import { type Invalidation, PendingInvalidations } from "./pending-invalidations.ts"

export interface InvalidationProtocolOptions {
  readonly id: string
  readonly leaseMs: number
  /** How long a statement of a dead process may still run in the database. */
  readonly statementMs: number
  readonly maxBytes: number
  readonly onDrop: (drop: ReadonlyArray<Invalidation> | "all") => void
  /**
   * Called when wake-ups may be lost: this process missed them, or another process did not send them, because it died
   * or did not know this process yet.
   */
  readonly onGap: () => void
}

interface Peer {
  number: number
  receivedAt: number
  /** The newest message of this process that the peer has acknowledged. */
  acknowledged: number
  deaf: boolean
  away: boolean
  fate: "alive" | "lost" | "forgotten"
}

interface Wait {
  readonly askedAt: number
  readonly end: number
  readonly done: () => void
  /**
   * The number of the message that contains the last of the pairs, and the time when it was logged. Each is Infinity
   * until it is known.
   */
  number: number
  loggedAt: number
}

const PENDING_DROPS_MAX = 5_000
/** Room in a message for the names of its members and for the members that the peer link adds. */
const TAIL_BYTES = 100
/**
 * A writer that cannot log waits for this many leases. After at most three leases, no other process uses data from
 * before the write: a process may read the writer's last message one lease late, notices the writer's silence one lease
 * later, and may use its caches for one more lease. The fourth lease is a safety margin.
 */
const SILENCE_LEASES = 4

export class InvalidationProtocol {
  readonly #options: InvalidationProtocolOptions
  /**
   * The lease that is assumed for other processes. It is slightly longer than this process's own lease, because the
   * clocks of two processes can drift apart during a lease.
   */
  readonly #patienceMs: number
  readonly #peers = new Map<string, Peer>()
  readonly #drops: PendingInvalidations
  readonly #waits: Array<Wait> = []
  #written = 0
  /** The first peer in the acknowledgements of the next message, if there is no room for all. */
  #firstNamed = 0
  #echoNumber = 0
  /** The time when this process wrote the newest of its messages that it has read back. */
  #echoAt = Number.NEGATIVE_INFINITY
  /** The time since which this process has listened without interruption. */
  #since = Number.POSITIVE_INFINITY
  /** True if a process that died before `#since` may have left a running statement in the database. */
  #mayBeUnheard = false
  #due = true
  #leaving = false
  readonly #counts = { gaps: 0, probations: 0, lost: 0 }

  constructor(options: InvalidationProtocolOptions) {
    this.#options = options
    this.#patienceMs = options.leaseMs * 1.02
    this.#drops = new PendingInvalidations({ pairs: PENDING_DROPS_MAX, pairBytes: options.maxBytes / 4 })
  }

  mayServe(now: number): boolean {
    return !this.#leaving && this.#isCurrent(now)
  }

  isAlone(now: number): boolean {
    return this.#isCurrent(now) && this.#alive().next().done === true
  }

  /** True if a message should be sent before the next heartbeat. */
  get isDue(): boolean {
    return this.#due || !this.#drops.isEmpty
  }

  get someoneIsDeaf(): boolean {
    for (const peer of this.#alive()) if (peer.deaf) return true
    return false
  }

  get counters() {
    return { ...this.#counts, peers: [...this.#alive()].length, waiting: this.#waits.length }
  }

  /** Call it after the local caches are invalidated. Calls `done` when no other process can serve the old values. */
  invalidate(pairs: ReadonlyArray<Invalidation>, now: number, done: () => void): void {
    if (this.isAlone(now)) {
      done()
      return
    }
    for (const pair of pairs) this.#drops.add(pair)
    const end = this.#drops.end
    this.#waits.push({
      askedAt: now,
      end,
      done,
      number: Number.POSITIVE_INFINITY,
      loggedAt: Number.POSITIVE_INFINITY,
    })
  }

  heartbeat(now: number): void {
    this.#due = true
    this.#settle(now)
  }

  leave(): void {
    this.#leaving = true
    this.#due = true
  }

  /** Creates the next message. The caller must log it before it requests another one. */
  write(now: number): Message {
    this.#due = false
    this.#written += 1
    const heard = this.#acknowledgements()
    const head: Message = {
      from: this.#options.id,
      number: this.#written,
      sentAt: now,
      heard,
      ...(this.#isExpired(now) ? { away: true } : {}),
    }
    const headBytes = Buffer.byteLength(JSON.stringify(head))
    const { pairs, forgot } = this.#drops.take(this.#options.maxBytes - headBytes - TAIL_BYTES)
    for (const wait of this.#waits) {
      if (wait.end <= this.#drops.taken) wait.number = Math.min(wait.number, this.#written)
    }
    return {
      ...head,
      ...(forgot ? { drop: "all" } : pairs.length > 0 ? { drop: pairs } : {}),
      ...(this.#leaving && this.#drops.isEmpty ? { bye: true } : {}),
    }
  }

  /** Fills at most half a message with acknowledgements. Later messages contain the other peers, in turn. */
  #acknowledgements(): Record<string, number> {
    const heard: Record<string, number> = {}
    const alive = [...this.#peers].filter(([, { fate }]) => fate === "alive")
    let room = this.#options.maxBytes / 2
    for (let i = 0; i < alive.length; i++) {
      const turn = (this.#firstNamed + i) % alive.length
      const [id, { number }] = alive[turn]!
      room -= Buffer.byteLength(`"${id}":${number},`)
      if (room < 0) {
        this.#firstNamed = turn
        break
      }
      heard[id] = number
    }
    return heard
  }

  logged(number: number, now: number): void {
    for (const wait of this.#waits) if (wait.number <= number) wait.loggedAt = Math.min(wait.loggedAt, now)
  }

  receive(message: Message, now: number): void {
    if (message.from === this.#options.id) this.#receiveOwn(message, now)
    else this.#receivePeer(message, now)
    this.#settle(now)
  }

  /** Handles missed messages: other processes may have written, started or stopped. */
  gap(): void {
    this.#counts.gaps += 1
    this.#echoAt = Number.NEGATIVE_INFINITY
    this.#startOver()
  }

  #startOver(): void {
    this.#options.onDrop("all")
    this.#options.onGap()
  }

  #receiveOwn(message: Message, now: number): void {
    if (message.number <= this.#echoNumber) return
    if (message.number !== this.#echoNumber + 1) this.gap()
    const wasCurrent = this.#isCurrent(now)
    if (this.#isExpired(now)) {
      this.#counts.probations += 1
      this.#since = now
      this.#mayBeUnheard = true
    }
    this.#echoNumber = message.number
    this.#echoAt = message.sentAt
    const someoneLost = this.#findLost(message.sentAt)
    if (someoneLost || (!wasCurrent && this.#isCurrent(now))) this.#startOver()
  }

  #receivePeer(message: Message, now: number): void {
    const known = this.#peers.get(message.from)
    if (message.number <= (known?.number ?? 0)) return
    if (message.number !== (known?.number ?? 0) + 1) this.gap()
    if (message.drop !== undefined) {
      this.#options.onDrop(message.drop)
      this.#due = true
    }
    this.#peers.set(message.from, {
      number: message.number,
      receivedAt: now,
      acknowledged: message.heard[this.#options.id] ?? known?.acknowledged ?? 0,
      deaf: message.deaf === true,
      away: message.away === true,
      fate: message.bye ? "lost" : "alive",
    })
  }

  /**
   * Finds lost peers, and statements of lost peers that must have ended. Returns true if it found one. Then all caches
   * must be dropped. This process has read everything that was logged before `readUntil`, the time when it wrote its
   * own message that it has just read back. The clock is not used, because messages that were logged later may not
   * have been read yet.
   */
  #findLost(readUntil: number): boolean {
    let found = this.#mayBeUnheard && this.#mustHaveEnded(this.#since, readUntil)
    if (found) this.#mayBeUnheard = false
    for (const [id, peer] of this.#peers) {
      if (peer.fate === "alive" && peer.receivedAt + this.#patienceMs < readUntil) {
        peer.fate = "lost"
        this.#counts.lost += 1
        found = true
      } else if (peer.fate === "lost" && this.#mustHaveEnded(peer.receivedAt, readUntil)) {
        peer.fate = "forgotten"
        found = true
      } else if (peer.fate === "forgotten" && peer.receivedAt + 100 * this.#options.statementMs < readUntil) {
        this.#peers.delete(id)
      }
    }
    return found
  }

  /**
   * Whether all statements of a process have certainly ended by the time `readUntil`, if the last message of the process
   * was received at the time `since`.
   */
  #mustHaveEnded(since: number, readUntil: number): boolean {
    return since + this.#patienceMs + this.#options.statementMs < readUntil
  }

  /**
   * Whether the lease has expired. When the process reads back a message that it wrote in this state, it is on
   * probation and does not use its caches yet.
   */
  #isExpired(now: number): boolean {
    return now >= this.#echoAt + this.#options.leaseMs
  }

  #isCurrent(now: number): boolean {
    return !this.#isExpired(now) && this.#echoAt >= this.#since + this.#patienceMs
  }

  *#alive(): Generator<Peer> {
    for (const peer of this.#peers.values()) if (peer.fate === "alive") yield peer
  }

  #settle(now: number): void {
    let acknowledgedByAll = this.#isCurrent(now) ? this.#echoNumber : 0
    for (const { acknowledged, away } of this.#alive())
      if (!away) acknowledgedByAll = Math.min(acknowledgedByAll, acknowledged)
    const open = this.#waits.findIndex(
      (wait) =>
        acknowledgedByAll < wait.number &&
        now < wait.loggedAt + this.#patienceMs &&
        now < wait.askedAt + SILENCE_LEASES * this.#patienceMs,
    )
    const settled = this.#waits.splice(0, open === -1 ? this.#waits.length : open)
    for (const wait of settled) wait.done()
  }
}
