import type { ClusterView } from "./message.ts"

/** The statements with which a process keeps its lease. `watch` only reads who is a member. */
export type LeaseCall = "watch" | "join" | "renew" | "leave"

export interface LeaseOptions {
  /** The lease in the database. */
  readonly leaseMs: number
  readonly renewMs: number
  /** A guest writes, but has no caches and needs no lease. */
  readonly isGuest: boolean
  /** Until then, there are processes of another release, which do not wait for acknowledgements. */
  readonly oldReleaseUntil: () => number
  /** Changes when another server has become the primary. It may lack this lease, and what the caches hold. */
  readonly databaseGeneration: () => number
  /** A random number below 1. */
  readonly random: () => number
  /** Called when the process has become a member, before it may use its caches. */
  readonly onJoined: () => void
}

/**
 * The lease of this process. While it is valid, every write of another process that changes cached data waits for this
 * process (`check_fence`), so cached data is current. When it has expired, others no longer wait.
 *
 * The process counts the lease by its own clock, from before the statement was sent, and a little shorter than the
 * database does. So it stops using its caches before the database considers it gone. An answer that arrives after the
 * lease has expired does not count: another process may have committed in between.
 *
 * After each statement the process sends a message to itself (`echo`), and after it has begun to listen, also one to all
 * (`loopback`). Without the last of each, it does not renew its lease, and soon gives it up: it would receive no marks
 * either, and others would wait for it.
 */
export class Lease {
  readonly #options: LeaseOptions
  #until = Number.NEGATIVE_INFINITY
  #sent = 0
  /** The newest statement that the database has answered, and the newest whose echo was received. */
  #answered = 0
  #echoed = 0
  #hasLoopback = false
  #sentAt = Number.NEGATIVE_INFINITY
  #answeredAt = Number.NEGATIVE_INFINITY
  #mayJoinAt = Number.NEGATIVE_INFINITY
  /** The server of the last statement, and the server where this process joined last. */
  #askedGeneration = 0
  #joinedGeneration = 0
  #isLeaving = false
  #wasMember = false
  /** How often the process has tried to join. A late `leave` from before the last time has no effect. */
  joinNumber = 0
  /** How often the process joined, and how often it lost its lease. */
  readonly counts = { joins: 0, expired: 0 }

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  isValid(now: number): boolean {
    return (
      now < this.#until &&
      now >= this.#options.oldReleaseUntil() &&
      this.#options.databaseGeneration() === this.#joinedGeneration
    )
  }

  /** Whether the last echo was received: this process receives what is sent to it. */
  get hearsEcho(): boolean {
    return this.#answered > 0 && this.#echoed >= this.#answered
  }

  /** Whether this process has received a message to all since it began to listen. */
  get hasLoopback(): boolean {
    return this.#hasLoopback
  }

  get #hears(): boolean {
    return this.hearsEcho && this.#hasLoopback
  }

  /** The statement to send now. Only one may be running. */
  next(now: number): LeaseCall | undefined {
    const { isGuest, leaseMs, renewMs } = this.#options
    if (this.#isLeaving) return undefined
    const isDue = now >= this.#sentAt + renewMs
    if (this.isValid(now)) {
      if (this.#hears) return isDue ? "renew" : undefined
      // The answer may have been slow, and the messages to itself are sent after it.
      return now >= this.#answeredAt + leaseMs / 2 ? "leave" : undefined
    }
    this.#end()
    const mayJoin = !isGuest && now >= this.#options.oldReleaseUntil()
    if (this.#hears && mayJoin && now >= this.#mayJoinAt) return "join"
    return isDue ? "watch" : undefined
  }

  /** Call it before a statement is sent. */
  sending(call: LeaseCall, now: number): void {
    this.#sentAt = now
    this.#askedGeneration = this.#options.databaseGeneration()
    if (call === "leave") this.#end()
    else this.#sent += 1
    if (call !== "join") return
    this.joinNumber += 1
    // A join fails while a write runs for long, and new writes wait behind it. So the pause is long, and not the same
    // again and again.
    this.#mayJoinAt = now + this.#options.renewMs * (0.5 + this.#options.random() / 2)
  }

  /** The number of the echo to send. */
  get echoNumber(): number {
    return this.#answered
  }

  /** Call it when the database has answered. `view` is null if the lease had expired. A failed statement has no answer. */
  answered(call: LeaseCall, view: ClusterView | null, now: number): void {
    this.#answered = this.#sent
    this.#answeredAt = now
    const until = this.#sentAt + this.#options.leaseMs * 0.95
    if (call === "renew" && (view === null || !this.isValid(now))) {
      this.#end()
      return
    }
    if (this.#isLeaving || now >= until || now < this.#options.oldReleaseUntil()) return
    if (this.#options.databaseGeneration() !== this.#askedGeneration) return
    if (call === "renew") this.#until = until
    if (call !== "join") return
    this.#joinedGeneration = this.#askedGeneration
    this.counts.joins += 1
    this.#wasMember = true
    this.#options.onJoined()
    this.#until = until
  }

  echo(number: number): void {
    this.#echoed = Math.max(this.#echoed, number)
  }

  loopback(): void {
    this.#hasLoopback = true
  }

  /** Call it when the process has begun to listen, the first time or again. */
  listens(): void {
    this.#hasLoopback = false
  }

  leave(): void {
    this.#isLeaving = true
    this.#until = Number.NEGATIVE_INFINITY
  }

  #end(): void {
    if (this.#wasMember) this.counts.expired += 1
    this.#wasMember = false
    this.#until = Number.NEGATIVE_INFINITY
  }
}
