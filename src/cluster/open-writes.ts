import type { Fence } from "../postgres/fence.ts"
import type { Message } from "./message.ts"
import type { Pair } from "./pending-wakes.ts"

/** A mark of this process, and who has acknowledged it. */
export interface OwnMark {
  readonly number: number
  readonly deadline: number
  readonly pairs: ReadonlyArray<Pair>
  readonly ackedBy: Set<string>
  sentAt: number | undefined
}

/** A write that will change cached data. */
export interface OpenWrite {
  readonly pairs: ReadonlyArray<Pair>
  /**
   * Set for a change that is already committed, so no fence can find a member that this process does not know: wait
   * until the database has named the members after this time.
   */
  readonly committedAt: number | undefined
  /** Empty if the last deadline has passed, and the time of the database is not known again yet. */
  marks: ReadonlyArray<OwnMark>
  /** Set while the write waits for acknowledgements. `asked` are the members that were live at the start. */
  waiting:
    | { readonly since: number; readonly asked: ReadonlyArray<string>; readonly done: (fence: Fence) => void }
    | undefined
}

const maxBytesPerMark = 3000

/** Splits keys so that the keys of one mark fit into a message. */
export const splitKeys = (pairs: ReadonlyArray<Pair>): ReadonlyArray<ReadonlyArray<Pair>> => {
  const parts: Array<Array<Pair>> = []
  let room = 0
  for (const pair of pairs) {
    const bytes = Buffer.byteLength(JSON.stringify(pair)) + 1
    if (bytes > room) {
      parts.push([])
      room = maxBytesPerMark
    }
    parts.at(-1)!.push(pair)
    room -= bytes
  }
  return parts
}

/** Removes as many marks from the list as fit into a message, but at least one, and returns them in the form of the message. */
export const takeFitting = (marks: Array<OwnMark>, budgetBytes: number) => {
  const taken: Array<NonNullable<Message["marks"]>[number]> = []
  let room = budgetBytes
  for (const { deadline, number, pairs } of marks) {
    const mark = [number, deadline, pairs] as const
    const bytes = Buffer.byteLength(JSON.stringify(mark)) + 1
    if (bytes > room && taken.length > 0) break
    room -= bytes
    taken.push(mark)
  }
  marks.splice(0, taken.length)
  return { taken, room }
}

export const hasAcked = ({ marks }: OpenWrite, id: string): boolean =>
  marks.every(({ ackedBy }) => ackedBy.has(id))

export const toFence = (own: string, { marks }: OpenWrite): Fence => {
  const [first, ...others] = marks
  const acked = [...(first?.ackedBy ?? [])].filter((id) => others.every(({ ackedBy }) => ackedBy.has(id)))
  return { acked: [own, ...acked], deadline: Math.min(...marks.map(({ deadline }) => deadline)) }
}
