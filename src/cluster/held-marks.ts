import type { ClusterView } from "./message.ts"
import type { Pair } from "./pending-wakes.ts"

export interface Mark {
  readonly from: string
  readonly number: number
  /** The write may pass its fence until then, by the clock of the database. */
  readonly deadline: number
  readonly pairs: ReadonlyArray<Pair>
  /** The process that made it receives no messages. */
  readonly hearsNothing?: boolean
}

interface HeldMark extends Mark {
  hearsNothing?: boolean
  /** A transaction that began after the deadline. */
  afterDeadline?: number
}

const nameOf = ({ from, number }: Pick<Mark, "from" | "number">): string => `${from} ${number}`

/**
 * The keys that this process must not cache, because a write of this or another process may change them. `onDrop` is
 * called with the keys when a mark begins and when it ends: values that were read before the end may be old.
 *
 * A mark whose process has died ends by itself. After the deadline the fence refuses the write. Writes that passed the
 * fence before the deadline have ended when all transactions of that time have.
 */
export class HeldMarks {
  readonly #onDrop: (pairs: ReadonlyArray<Pair>) => void
  readonly #held = new Map<string, HeldMark>()
  readonly #keys = new Map<string, Map<string, number>>()

  constructor(onDrop: (pairs: ReadonlyArray<Pair>) => void) {
    this.#onDrop = onDrop
  }

  get size(): number {
    return this.#held.size
  }

  isMarked(topic: string, key: string): boolean {
    return this.#keys.get(topic)?.has(key) ?? false
  }

  hold(mark: Mark): void {
    const name = nameOf(mark)
    const known = this.#held.get(name)
    if (known !== undefined) {
      known.hearsNothing = mark.hearsNothing === true
      return
    }
    this.#held.set(name, { ...mark })
    for (const [topic, key] of mark.pairs) this.#count(topic, key, 1)
    this.#onDrop(mark.pairs)
  }

  release(named: Pick<Mark, "from" | "number">): void {
    const name = nameOf(named)
    const mark = this.#held.get(name)
    if (mark === undefined) return
    this.#held.delete(name)
    for (const [topic, key] of mark.pairs) this.#count(topic, key, -1)
    this.#onDrop(mark.pairs)
  }

  /** The marks of a process, oldest first. */
  *of(from: string): Generator<Mark> {
    for (const mark of this.#held.values()) if (mark.from === from) yield mark
  }

  /** The marks of processes that receive no messages. */
  get unannounced(): ReadonlyArray<readonly [from: string, number: number]> {
    return [...this.#held.values()].flatMap(({ from, hearsNothing, number }) =>
      hearsNothing ? [[from, number] as const] : [],
    )
  }

  /** Releases the marks that have ended, according to what the database said. */
  see({ members, now, xid, xmin }: ClusterView): ReadonlyArray<Mark> {
    const ended: Array<Mark> = []
    const openFrom = new Map(members.map((member) => [member.id, member.openFrom]))
    for (const mark of this.#held.values()) {
      const { afterDeadline, deadline, from, number } = mark
      if (number < (openFrom.get(from) ?? 0)) ended.push(mark)
      else if (afterDeadline !== undefined && xmin >= afterDeadline) ended.push(mark)
      else if (afterDeadline === undefined && now > deadline) mark.afterDeadline = xid
    }
    for (const mark of ended) this.release(mark)
    return ended
  }

  #count(topic: string, key: string, change: number): void {
    const keys = this.#keys.get(topic) ?? new Map<string, number>()
    this.#keys.set(topic, keys)
    const count = (keys.get(key) ?? 0) + change
    if (count > 0) keys.set(key, count)
    else keys.delete(key)
  }
}
