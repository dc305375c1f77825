import type { LeaseCall } from "../../src/cluster/lease.ts"
import type { LeaseRequest } from "../../src/cluster/member-store.ts"
import type { ClusterView } from "../../src/cluster/message.ts"
import type { Fence } from "../../src/postgres/fence.ts"
import type { EventQueue } from "./event-queue.ts"

interface Row {
  readonly leaseUntil: number
  readonly joined: number
  readonly openFrom: number
  readonly held: LeaseRequest["held"]
}

export type WriteResult = { readonly version: number } | { readonly silent: ReadonlyArray<string> }

/**
 * The functions of schema/sql/functions/cluster.sql, step by step, with a random time between the steps: a statement can
 * be overtaken between reading the clock and reading the members, or between its evaluation and its commit.
 */
export class SimulatedDatabase {
  readonly versions = new Map<string, number>()
  readonly #events: EventQueue
  readonly #delay: () => number
  readonly #onCommit: (key: string, version: number) => void
  readonly #rows = new Map<string, Row>()
  readonly #running = new Set<number>()
  readonly #queue: Array<{ readonly isExclusive: boolean; readonly run: () => void }> = []
  #shared = 0
  #isExclusive = false
  #nextXid = 1
  /** The clock of the database differs from that of the processes. */
  readonly #clockOffset: number

  constructor(
    events: EventQueue,
    ports: {
      readonly delay: () => number
      readonly onCommit: (key: string, version: number) => void
    },
  ) {
    this.#events = events
    this.#delay = ports.delay
    this.#onCommit = ports.onCommit
    this.#clockOffset = (events.random() - 0.5) * 1e6
  }

  get #clock(): number {
    return this.#events.now + this.#clockOffset
  }

  #later(run: () => void): void {
    this.#events.at(this.#events.now + this.#delay(), run)
  }

  #begin(): number {
    const xid = this.#nextXid++
    this.#running.add(xid)
    return xid
  }

  #lock(isExclusive: boolean, run: () => void): void {
    this.#queue.push({ isExclusive, run })
    this.#grant()
  }

  #grant(): void {
    for (;;) {
      const next = this.#queue[0]
      if (next === undefined || this.#isExclusive || (next.isExclusive && this.#shared > 0)) return
      this.#queue.shift()
      if (next.isExclusive) this.#isExclusive = true
      else this.#shared += 1
      next.run()
    }
  }

  #unlock(isExclusive: boolean): void {
    if (isExclusive) this.#isExclusive = false
    else this.#shared -= 1
    this.#grant()
  }

  #view(id: string, started: number, xid: number): ClusterView {
    const others = [...this.#running].filter((other) => other !== xid)
    return {
      now: started,
      xid,
      xmin: Math.min(xid, ...others),
      members: [...this.#rows].flatMap(([member, { held, leaseUntil, openFrom }]) =>
        member === id || leaseUntil <= this.#clock
          ? []
          : { id: member, remainingMs: leaseUntil - this.#clock, deaf: false, openFrom, held },
      ),
    }
  }

  call(kind: LeaseCall, request: LeaseRequest, done: (view: ClusterView | null) => void): void {
    const { held, id, joined, leaseMs, openFrom } = request
    const started = this.#clock
    const row = () => ({ leaseUntil: this.#clock + leaseMs, joined, openFrom, held })
    const commit = (xid: number, apply: () => void, view: ClusterView | null) =>
      this.#later(() => {
        apply()
        this.#running.delete(xid)
        if (kind === "join") this.#unlock(true)
        done(view)
      })
    const evaluate = () => {
      const xid = this.#begin()
      this.#later(() => {
        const next = row()
        const known = this.#rows.get(id)
        if (kind === "leave") commit(xid, () => known?.joined === joined && this.#rows.delete(id), null)
        else if (kind === "watch") commit(xid, () => {}, this.#view(id, started, xid))
        else if (kind === "renew" && !(known !== undefined && known.leaseUntil > this.#clock))
          commit(xid, () => {}, null)
        else commit(xid, () => this.#rows.set(id, next), this.#view(id, started, xid))
      })
    }
    if (kind === "join") this.#lock(true, evaluate)
    else evaluate()
  }

  /** A write of the key with its fence. `runsFor` is how long the statement takes after the fence. */
  write(key: string, { acked, deadline }: Fence, runsFor: number, done: (result: WriteResult) => void): void {
    this.#lock(false, () => {
      const xid = this.#begin()
      const end = (result: WriteResult) => {
        this.#running.delete(xid)
        this.#unlock(false)
        done(result)
      }
      this.#later(() => {
        const at = this.#clock
        if (at > deadline) return end({ silent: [] })
        this.#later(() => {
          const silent = [...this.#rows].flatMap(([id, { leaseUntil }]) =>
            leaseUntil > at && !acked.includes(id) ? id : [],
          )
          if (silent.length > 0) return end({ silent })
          this.#events.at(this.#events.now + runsFor, () => {
            const version = (this.versions.get(key) ?? 0) + 1
            this.versions.set(key, version)
            this.#onCommit(key, version)
            end({ version })
          })
        })
      })
    })
  }
}
