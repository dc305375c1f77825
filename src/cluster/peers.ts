import type { ClusterView } from "./message.ts"

interface Peer {
  /** When its lease ends, by the clock of this process, if it does not renew it. */
  until: number
  deaf: boolean
  readonly since: number
}

/** The other members, as far as this process knows. The fence of a write decides; this only avoids refusals. */
export class Peers {
  readonly #peers = new Map<string, Peer>()
  readonly #gone = new Set<string>()
  /** Members that the last view did not name. Their farewell may still arrive. */
  readonly #missing = new Set<string>()
  readonly #leaseMs: number
  /** How many members disappeared without a farewell. */
  lost = 0

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs
  }

  *live(now: number): Generator<string> {
    for (const [id, { until }] of this.#peers) if (now < until) yield id
  }

  /** Also those whose lease has ended by the clock of this process: it may have been renewed since. */
  known(): Iterable<string> {
    return this.#peers.keys()
  }

  someoneIsDeaf(now: number): boolean {
    for (const { deaf, until } of this.#peers.values()) if (deaf && now < until) return true
    return false
  }

  /** A message of a member. */
  heard(id: string, { deaf, hello }: { readonly deaf: boolean; readonly hello: boolean }, now: number): void {
    const known = this.#peers.get(id)
    if (hello) this.#peers.set(id, { until: now + this.#leaseMs, deaf, since: now })
    else if (known !== undefined) known.deaf = deaf
  }

  hasLeft(id: string): boolean {
    return this.#gone.has(id)
  }

  left(id: string): void {
    this.#peers.delete(id)
    this.#missing.delete(id)
    this.#gone.add(id)
  }

  /** A fence was refused because of these members. */
  missed(ids: ReadonlyArray<string>, now: number): void {
    for (const id of ids) {
      const known = this.#peers.get(id)
      // The lease of a known member has ended by the clock of this process, but not yet by that of the database.
      if (known !== undefined) known.until = Math.max(known.until, now + this.#leaseMs / 20)
      else this.#peers.set(id, { until: now + this.#leaseMs, deaf: true, since: now })
    }
  }

  /** Takes over what the database said. Returns whether a member has disappeared. */
  see({ members }: ClusterView, sentAt: number, now: number): boolean {
    const named = new Set(members.map(({ id }) => id))
    const disappeared = [...this.#missing].filter((id) => !named.has(id)).length
    this.lost += disappeared
    this.#missing.clear()
    for (const [id, { since }] of this.#peers) {
      if (named.has(id) || since > sentAt) continue
      this.#peers.delete(id)
      this.#missing.add(id)
    }
    for (const { deaf, id, remainingMs } of members) {
      if (this.#gone.has(id)) continue
      const since = this.#peers.get(id)?.since ?? sentAt
      this.#peers.set(id, { until: now + remainingMs, deaf, since })
    }
    for (const id of this.#gone) if (!named.has(id)) this.#gone.delete(id)
    return disappeared > 0
  }
}
