import { type FreeSlots, isUrgent, type OutboxMail } from "../turns/outbox.ts"

/**
 * How many messages a process sends at the same time. Urgent mail cannot use all slots and other mail cannot either, so
 * that neither waits for the other when a mail server is slow.
 */
const total = 10
const mostUrgent = 8
const mostOther = 6

/** The messages that this process is sending. */
export class Slots {
  readonly #sending = new Map<number, { readonly isUrgent: boolean }>()

  get busy(): number {
    return this.#sending.size
  }

  get ids(): ReadonlyArray<number> {
    return [...this.#sending.keys()]
  }

  get free(): FreeSlots {
    const urgent = [...this.#sending.values()].filter((one) => one.isUrgent).length
    return {
      total: total - this.busy,
      urgent: Math.min(total - this.busy, mostUrgent - urgent),
      other: mostOther - (this.busy - urgent),
    }
  }

  add({ id, kind }: OutboxMail): void {
    this.#sending.set(id, { isUrgent: isUrgent(kind) })
  }

  remove({ id }: OutboxMail): void {
    this.#sending.delete(id)
  }
}
