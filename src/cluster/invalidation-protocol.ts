/**
 * The protocol that lets every process keep caches although any of them may write. No input or output, no clock.
 *
 * The wire is one log that all read in the same order, and it belongs to the database: who cannot reach it cannot commit.
 *
 * 1. Each node sends numbered messages, at least one per heartbeat, one at a time, each repeated until it is in the log.
 * 2. When its own message written at `t` comes back, a node has read everything logged before `t`. It may serve from its
 *    caches for a lease from `t` (not from the arrival), so a stalled process, waking up, finds its lease over.
 * 3. A node that starts, let its lease run out or missed messages is on probation: it serves again, with empty caches, only
 *    after listening for a whole lease. So a node that has listened for a lease knows everybody who may be serving.
 * 4. A writer commits, then logs what to drop. Who reads that drops, then acknowledges. The writer is done when all it knows
 *    have acknowledged. If it is on probation itself it waits for a lease instead: whoever has not read the log by then
 *    is not serving. A writer that cannot log at all waits until the others must have noticed its silence (6).
 *    Nobody waits for one that says it is away, its lease being over: it serves again only after it has said otherwise, and
 *    a writer that has read its own message back has read that too, or was read before it.
 * 5. A node that is current and knows nobody need not log: a newcomer it has not read about is still on probation.
 * 6. A node silent for a lease is lost. It may have committed without a word, so all drop everything; and once more when
 *    the last statement it sent must have ended in the database. So they do after a goodbye, which ends no statement, and
 *    after a probation, before which somebody may have died unheard.
 *
 * What a cache owes in return: ask `mayServe` at each use, and on a drop also disown the loads under way.
 */
import type { Message } from "./message.ts"
import { type Invalidation, PendingInvalidations } from "./pending-invalidations.ts"

export interface InvalidationProtocolOptions {
  readonly id: string
  readonly leaseMs: number
  /** How long a statement sent by a process that died may still run in the database. */
  readonly statementMs: number
  readonly maxBytes: number
  readonly onDrop: (drop: ReadonlyArray<Invalidation> | "all") => void
  /** Wake-ups may have been missed too, or never sent by one that died or did not know me yet. */
  readonly onGap: () => void
}

interface Peer {
  number: number
  heardAt: number
  /** The newest of my numbers that it has heard. */
  acknowledged: number
  deaf: boolean
  away: boolean
  fate: "alive" | "lost" | "forgotten"
}

interface Wait {
  readonly askedAt: number
  readonly end: number
  readonly done: () => void
  /** The message that carries the last of what is waited for, once it is written, and when it got into the log. */
  number: number
  loggedAt: number
}

const PENDING_DROPS_MAX = 5_000
/** Room in a message for the names of its members and for what the carrier adds. */
const TAIL_BYTES = 100
/** Others may read my last message a lease late, miss me a lease later and serve for one more; and one may be under way. */
const SILENCE_LEASES = 4

export class InvalidationProtocol {
  readonly #options: InvalidationProtocolOptions
  /** A lease as granted to others: longer than my own by more than two clocks can drift apart meanwhile. */
  readonly #patienceMs: number
  readonly #peers = new Map<string, Peer>()
  readonly #drops: PendingInvalidations
  readonly #waits: Array<Wait> = []
  #written = 0
  /** Whom the next message names first, where it cannot name all. */
  #firstNamed = 0
  #echoNumber = 0
  /** When the newest of my messages that came back was written. */
  #echoAt = Number.NEGATIVE_INFINITY
  /** Since when I have listened without a break. */
  #since = Number.POSITIVE_INFINITY
  /** Whoever died before that, unheard by me, may have left a statement in the database. */
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

  /** Something should be said without waiting for the next heartbeat. */
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

  /** The local caches have been told already. `done` is called when no other process can serve what the pairs name. */
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

  /** Writes the next message, which the caller must get into the log before it asks for another. */
  write(now: number): Message {
    this.#due = false
    this.#written += 1
    const heard = this.#acknowledgements()
    const head: Message = {
      from: this.#options.id,
      number: this.#written,
      sentAt: now,
      heard,
      ...(this.#isOver(now) ? { away: true } : {}),
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

  /** Of as many as half a message has room for, in turn: who is not named learns it from one of the next. */
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

  hear(message: Message, now: number): void {
    if (message.from === this.#options.id) this.#hearMyself(message, now)
    else this.#hearPeer(message, now)
    this.#settle(now)
  }

  /** Messages were missed: others may have written, come and gone. */
  gap(): void {
    this.#counts.gaps += 1
    this.#echoAt = Number.NEGATIVE_INFINITY
    this.#startOver()
  }

  #startOver(): void {
    this.#options.onDrop("all")
    this.#options.onGap()
  }

  #hearMyself(message: Message, now: number): void {
    if (message.number <= this.#echoNumber) return
    if (message.number !== this.#echoNumber + 1) this.gap()
    const wasCurrent = this.#isCurrent(now)
    if (this.#isOver(now)) {
      this.#counts.probations += 1
      this.#since = now
      this.#mayBeUnheard = true
    }
    this.#echoNumber = message.number
    this.#echoAt = message.sentAt
    const someoneLost = this.#findLost(message.sentAt)
    if (someoneLost || (!wasCurrent && this.#isCurrent(now))) this.#startOver()
  }

  #hearPeer(message: Message, now: number): void {
    const known = this.#peers.get(message.from)
    if (message.number <= (known?.number ?? 0)) return
    if (message.number !== (known?.number ?? 0) + 1) this.gap()
    if (message.drop !== undefined) {
      this.#options.onDrop(message.drop)
      this.#due = true
    }
    this.#peers.set(message.from, {
      number: message.number,
      heardAt: now,
      acknowledged: message.heard[this.#options.id] ?? known?.acknowledged ?? 0,
      deaf: message.deaf === true,
      away: message.away === true,
      fate: message.bye ? "lost" : "alive",
    })
  }

  /** Judged by the log and not by the clock: what I have not read yet was logged after my own message. */
  #findLost(readUntil: number): boolean {
    let found = this.#mayBeUnheard && this.#mustHaveEnded(this.#since, readUntil)
    if (found) this.#mayBeUnheard = false
    for (const [id, peer] of this.#peers) {
      if (peer.fate === "alive" && peer.heardAt + this.#patienceMs < readUntil) {
        peer.fate = "lost"
        this.#counts.lost += 1
        found = true
      } else if (peer.fate === "lost" && this.#mustHaveEnded(peer.heardAt, readUntil)) {
        peer.fate = "forgotten"
        found = true
      } else if (peer.fate === "forgotten" && peer.heardAt + 100 * this.#options.statementMs < readUntil) {
        this.#peers.delete(id)
      }
    }
    return found
  }

  /** Statements of those who have said nothing since then. */
  #mustHaveEnded(since: number, readUntil: number): boolean {
    return since + this.#patienceMs + this.#options.statementMs < readUntil
  }

  /** My lease. What I write then, come back, can only begin a probation. */
  #isOver(now: number): boolean {
    return now >= this.#echoAt + this.#options.leaseMs
  }

  #isCurrent(now: number): boolean {
    return !this.#isOver(now) && this.#echoAt >= this.#since + this.#patienceMs
  }

  *#alive(): Generator<Peer> {
    for (const peer of this.#peers.values()) if (peer.fate === "alive") yield peer
  }

  #settle(now: number): void {
    let everyoneHeard = this.#isCurrent(now) ? this.#echoNumber : 0
    for (const { acknowledged, away } of this.#alive())
      if (!away) everyoneHeard = Math.min(everyoneHeard, acknowledged)
    const open = this.#waits.findIndex(
      (wait) =>
        everyoneHeard < wait.number &&
        now < wait.loggedAt + this.#patienceMs &&
        now < wait.askedAt + SILENCE_LEASES * this.#patienceMs,
    )
    const settled = this.#waits.splice(0, open === -1 ? this.#waits.length : open)
    for (const wait of settled) wait.done()
  }
}
