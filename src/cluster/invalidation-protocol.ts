/**
 * The protocol that lets every process cache data although any process may write. It is pure: no I/O, no clock.
 *
 * 1. A process with caches is a member and has a lease in the database (`Lease`).
 * 2. Before a write changes cached data, the writer marks the keys: each process drops them, no longer caches them or
 *    shares running reads of them, and acknowledges. Until the write has ended, every process reads these keys from the
 *    database.
 * 3. The statement of the write contains a fence. The database refuses it if a member with a valid lease has not
 *    acknowledged, or after the deadline of the mark. Then nothing was written, and the writer marks again.
 * 4. When the outcome is known, the writer says that the marks are done. Otherwise they end by themselves (`HeldMarks`).
 *
 * So when a write is committed, no process has an older version in its cache, and none caches one afterwards. Every
 * message may be lost, late or repeated: the fence decides, and a lost message only costs waiting. A process that stops
 * or dies is waited for until its lease has expired, and no other process loses anything.
 */
import type { Fence } from "../postgres/fence.ts"
import { HeldMarks } from "./held-marks.ts"
import { Lease, type LeaseCall } from "./lease.ts"
import type { ClusterView, Message } from "./message.ts"
import { hasAcked, type OpenWrite, type OwnMark, splitKeys, takeFitting, toFence } from "./open-writes.ts"
import { Peers } from "./peers.ts"
import type { Pair } from "./pending-wakes.ts"

export interface MemberOptions {
  readonly id: string
  readonly leaseMs: number
  readonly renewMs: number
  /** How long a write may take from its mark to its fence. */
  readonly markMs: number
  readonly isGuest: boolean
  readonly oldReleaseUntil: () => number
  readonly databaseGeneration: () => number
  readonly random: () => number
  readonly onDrop: (drop: ReadonlyArray<Pair> | "all") => void
  /** Called when wake-ups may be missing: this process has joined, or another process has died. */
  readonly onGap: () => void
  /** Called when a write no longer waits, with the time it has waited. */
  readonly onWaited: (ms: number) => void
}

/** The room of a number in a message. */
const numberBytes = 12

export class Member {
  readonly marks: HeldMarks
  readonly lease: Lease
  readonly #options: MemberOptions
  readonly #peers: Peers
  readonly #writes = new Set<OpenWrite>()
  #nextMark = 1
  #time = { at: Number.NEGATIVE_INFINITY, now: Number.NEGATIVE_INFINITY }
  #callSentAt = Number.NEGATIVE_INFINITY
  /** When the last statement was sent that the database has answered with the members. */
  #viewSentAt = Number.NEGATIVE_INFINITY
  #marksToSend: Array<OwnMark> = []
  /** Marks for members that have not acknowledged them. */
  readonly #marksToRepeat = new Map<string, Array<OwnMark>>()
  #doneToSend: Array<number> = []
  #acksToSend = new Map<string, Array<number>>()
  #helloToSend = false
  #echoToSend = false
  #loopbackToSend = false
  /** Until the next statement, other processes may not know that they must wake this one. */
  #isNew = false
  #counts = { waits: 0, expired: 0, fencesRefused: 0 }

  constructor(options: MemberOptions) {
    this.#options = options
    this.marks = new HeldMarks(options.onDrop)
    this.#peers = new Peers(options.leaseMs)
    this.lease = new Lease({
      ...options,
      onJoined: () => {
        options.onDrop("all")
        options.onGap()
        this.#isNew = true
        this.#helloToSend = true
      },
    })
  }

  get counters() {
    const { expired: leasesLost, joins } = this.lease.counts
    return {
      ...this.#counts,
      joins,
      leasesLost,
      lost: this.#peers.lost,
      marks: this.marks.size,
      waiting: [...this.#writes].filter(({ waiting }) => waiting !== undefined).length,
      writes: this.#writes.size,
    }
  }

  peers(now: number): number {
    return [...this.#peers.live(now)].length
  }

  someoneIsDeaf(now: number): boolean {
    return this.#peers.someoneIsDeaf(now)
  }

  /** All marks of this process with lower numbers have ended. */
  get openFrom(): number {
    const { value } = this.marks.of(this.#options.id).next()
    return value?.number ?? this.#nextMark
  }

  /** Begins a write: marks the keys in this process, and in the others as soon as messages are taken. */
  open(pairs: ReadonlyArray<Pair>, now: number, isCommitted = false): OpenWrite {
    const committedAt = isCommitted ? now : undefined
    const write: OpenWrite = { pairs, committedAt, marks: [], waiting: undefined }
    this.#writes.add(write)
    this.#mark(write, now)
    return write
  }

  /** Calls `done` when every live member has acknowledged, at once if there is none. */
  whenAcknowledged(write: OpenWrite, now: number, done: (fence: Fence) => void): void {
    write.waiting = { since: now, asked: [...this.#peers.live(now)], done }
    this.settle(now)
  }

  /** The fence of the write was refused. `silent` lists the members that must acknowledge. */
  refused(write: OpenWrite, silent: ReadonlyArray<string>, wasLost: boolean, now: number): void {
    this.#counts.fencesRefused += 1
    this.#peers.missed(silent, now)
    if (silent.length > 0) return
    // The deadline has passed. The clock of the database may have been set, so the write waits for its new time.
    if (!wasLost) this.#release(write.marks)
    write.marks = []
  }

  /** Ends a write. If its outcome is not known, its marks end when its statement must have ended. */
  end(write: OpenWrite, isKnown: boolean): void {
    this.#writes.delete(write)
    if (isKnown) this.#release(write.marks)
  }

  /** Call it when this process has begun to listen, the first time or again. */
  listens(): void {
    this.lease.listens()
    this.#loopbackToSend = !this.#options.isGuest
  }

  sending(call: LeaseCall, now: number): void {
    this.#callSentAt = now
    this.lease.sending(call, now)
  }

  answered(call: LeaseCall, view: ClusterView | null, now: number): void {
    if (view !== null) {
      this.#time = { at: now, now: view.now }
      this.#viewSentAt = this.#callSentAt
      if (this.#isNew) this.#options.onGap()
      this.#isNew = false
      if (this.#peers.see(view, this.#callSentAt, now)) this.#options.onGap()
      for (const { from, number } of this.marks.see(view))
        if (from === this.#options.id) this.#doneToSend.push(number)
      for (const { held, id } of view.members)
        this.#acknowledged(
          id,
          held.flatMap(([from, number]) => (from === this.#options.id ? number : [])),
        )
      for (const write of this.#writes) if (write.marks.length === 0) this.#mark(write, now)
    }
    this.lease.answered(call, view, now)
    this.#echoToSend = true
    this.#loopbackToSend ||= !this.#options.isGuest && !this.lease.hasLoopback
    this.settle(now)
  }

  receive(message: Message, now: number): void {
    const { acks = [], bye, done = [], deaf, echo, from, hearsNothing, hello, loopback, marks = [] } = message
    if (from === this.#options.id) {
      if (echo !== undefined) this.lease.echo(echo)
      if (loopback) this.lease.loopback()
      return
    }
    if (bye) this.#peers.left(from)
    else this.#peers.heard(from, { deaf: deaf === true, hello: hello === true }, now)
    for (const [number, deadline, pairs] of marks) {
      this.marks.hold({ from, number, deadline, pairs, hearsNothing: hearsNothing === true })
      this.#acksToSend.set(from, [...(this.#acksToSend.get(from) ?? []), number])
    }
    for (const number of done) this.marks.release({ from, number })
    this.#acknowledged(from, acks)
    // The new member has not received what was sent before.
    if (hello) for (const write of this.#writes) this.#repeat(from, write)
    this.settle(now)
  }

  /** Resumes writes that need not wait any more, and repeats marks that were not acknowledged in time. */
  settle(now: number): void {
    for (const write of this.#writes) {
      const { marks, waiting } = write
      if (waiting === undefined || marks.length === 0) continue
      const isCommitted = write.committedAt !== undefined
      const knowsMembers = !isCommitted || this.#viewSentAt > write.committedAt
      // No fence finds a member that this process wrongly considers gone after the commit.
      const asked = isCommitted ? this.#peers.known() : this.#peers.live(now)
      const silent = [...asked].filter((id) => !hasAcked(write, id))
      if (silent.length > 0) {
        this.#ask(write, silent, now)
        continue
      }
      if (!knowsMembers) continue
      write.waiting = undefined
      this.#counts.waits += 1
      if (waiting.asked.some((id) => !hasAcked(write, id) && !this.#peers.hasLeft(id)))
        this.#counts.expired += 1
      this.#options.onWaited(now - waiting.since)
      waiting.done(toFence(this.#options.id, write))
    }
  }

  /** True if `takeBroadcast` or `takeDirect` would return something that should not wait. */
  get isDue(): boolean {
    return (
      this.#marksToSend.length > 0 ||
      this.#marksToRepeat.size > 0 ||
      this.#helloToSend ||
      this.#echoToSend ||
      this.#loopbackToSend ||
      this.#acksToSend.size > 0
    )
  }

  /** True if there is something that may wait for the next message. */
  get hasDone(): boolean {
    return this.#doneToSend.length > 0
  }

  /** The next message for all members. It fits into `budgetBytes`. */
  takeBroadcast(budgetBytes: number): Omit<Message, "from"> | undefined {
    const { room, taken: marks } = takeFitting(this.#marksToSend, budgetBytes)
    const done = this.#doneToSend.splice(0, Math.max(0, Math.floor(room / numberBytes)))
    const hello = this.#helloToSend
    const loopback = this.#loopbackToSend
    this.#helloToSend = false
    this.#loopbackToSend = false
    if (marks.length + done.length === 0 && !hello && !loopback) return undefined
    return {
      ...(marks.length > 0 ? this.#withMarks(marks) : {}),
      ...(done.length > 0 ? { done } : {}),
      ...(hello ? { hello } : {}),
      ...(loopback ? { loopback } : {}),
    }
  }

  /**
   * The messages for single processes: acknowledgements, repeated marks, and the echo for this process itself. With
   * `maxAcks` acknowledgements, or with marks, each fits into `budgetBytes`.
   */
  takeDirect(
    maxAcks: number,
    budgetBytes: number,
  ): ReadonlyArray<readonly [to: string, content: Omit<Message, "from">]> {
    const taken: Array<readonly [string, Omit<Message, "from">]> = []
    if (this.#echoToSend) taken.push([this.#options.id, { echo: this.lease.echoNumber }])
    this.#echoToSend = false
    for (const [to, acks] of this.#acksToSend) {
      taken.push([to, { acks: acks.splice(0, maxAcks) }])
      if (acks.length === 0) this.#acksToSend.delete(to)
    }
    for (const [to, marks] of this.#marksToRepeat) {
      while (marks.length > 0) taken.push([to, this.#withMarks(takeFitting(marks, budgetBytes).taken)])
    }
    this.#marksToRepeat.clear()
    return taken
  }

  #withMarks(marks: NonNullable<Message["marks"]>): Pick<Message, "marks" | "hearsNothing"> {
    return { marks, ...(this.lease.hearsEcho ? {} : { hearsNothing: true as const }) }
  }

  /**
   * Sends the marks of a write to all, once. Later they are repeated only to the members that have not acknowledged, on
   * the channel whose echo keeps their leases. So a member that does not receive them loses its lease.
   */
  #ask(write: OpenWrite, silent: ReadonlyArray<string>, now: number): void {
    const { marks } = write
    const sentAt = marks[0]?.sentAt
    if (sentAt !== undefined && now < sentAt + this.#options.renewMs / 2) return
    if (sentAt === undefined) this.#marksToSend.push(...marks)
    else for (const id of silent) this.#repeat(id, write)
    for (const mark of marks) mark.sentAt = now
  }

  #repeat(to: string, { marks }: OpenWrite): void {
    const sent = marks.filter(({ ackedBy, sentAt }) => sentAt !== undefined && !ackedBy.has(to))
    if (sent.length > 0) this.#marksToRepeat.set(to, [...(this.#marksToRepeat.get(to) ?? []), ...sent])
  }

  #mark(write: OpenWrite, now: number): void {
    const deadline = this.#time.now + (now - this.#time.at) + this.#options.markMs
    // Before the first answer of the database, any write must wait for its time.
    if (!Number.isFinite(deadline)) return
    write.marks = splitKeys(write.pairs).map((pairs) => {
      const number = this.#nextMark++
      this.marks.hold({ from: this.#options.id, number, deadline, pairs })
      return { number, deadline, pairs, ackedBy: new Set<string>(), sentAt: undefined }
    })
  }

  #acknowledged(by: string, list: ReadonlyArray<number>): void {
    if (list.length === 0) return
    const numbers = new Set(list)
    for (const { marks } of this.#writes)
      for (const { ackedBy, number } of marks) if (numbers.has(number)) ackedBy.add(by)
  }

  #release(marks: ReadonlyArray<OwnMark>): void {
    for (const { number, sentAt } of marks) {
      this.marks.release({ from: this.#options.id, number })
      if (sentAt !== undefined) this.#doneToSend.push(number)
    }
  }
}
