import type { ClientFrame, ErrorFrame, LookupResult } from "../../schema/live-frames.ts"
import { askable, lookupIds } from "./protocol-constants.ts"

interface Question {
  readonly emojiIds: ReadonlyArray<string>
  readonly frame: ClientFrame
  readonly resolve: (results: ReadonlyArray<LookupResult>) => void
  readonly reject: (error: Error) => void
  timer?: ReturnType<typeof setTimeout>
}

const askAgainMs = 500

/** Lookups on their way. A lost socket does not lose them: they are asked again on the next. */
export class PendingRequests {
  readonly #open = new Map<string, Question>()
  readonly #withinMs: number
  #lastId = 0
  #answeredAt = Number.NEGATIVE_INFINITY

  constructor(withinMs: number) {
    this.#withinMs = withinMs
  }

  get areOpen(): boolean {
    return this.#open.size > 0
  }

  /** In as many frames as it takes. */
  async ask(
    emojiIds: ReadonlyArray<string>,
    send: (frame: ClientFrame) => void,
  ): Promise<ReadonlyArray<LookupResult>> {
    const answers: Array<Promise<ReadonlyArray<LookupResult>>> = []
    for (let from = 0; from < emojiIds.length; from += lookupIds)
      answers.push(this.#askOnce(emojiIds.slice(from, from + lookupIds), send))
    return (await Promise.all(answers)).flat()
  }

  #askOnce(
    emojiIds: ReadonlyArray<string>,
    send: (frame: ClientFrame) => void,
  ): Promise<ReadonlyArray<LookupResult>> {
    return new Promise((resolve, reject) => {
      const id = String(++this.#lastId)
      const frame: ClientFrame = { type: "lookup", id, emoji_ids: emojiIds.map(askable) }
      const asAsked = (results: ReadonlyArray<LookupResult>) =>
        resolve(results.map((found, at) => ({ ...found, emoji_id: emojiIds[at] ?? found.emoji_id })))
      const question: Question = { emojiIds, frame, resolve: asAsked, reject }
      this.#open.set(id, question)
      this.#giveUpIn(this.#withinMs, id, question)
      send(frame)
    })
  }

  /** They are answered one after the other: those at the end of many wait for as long as others are. */
  #giveUpIn(ms: number, id: string, question: Question): void {
    question.timer = setTimeout(() => {
      const leftMs = this.#answeredAt + this.#withinMs - performance.now()
      if (leftMs > 0) this.#giveUpIn(leftMs, id, question)
      else this.fail(id, "The live socket did not answer in time")
    }, ms)
  }

  *frames(): Generator<ClientFrame> {
    for (const { frame } of this.#open.values()) yield frame
  }

  answer(id: string | undefined, results: ReadonlyArray<LookupResult>): void {
    this.#answeredAt = performance.now()
    this.#take(id)?.resolve(results)
  }

  /** Where the records are too many for one answer, it is asked for in halves; where there is none now, again. */
  refused({ code, error, id = "" }: ErrorFrame, send: (frame: ClientFrame) => void): void {
    if (code === "unavailable") {
      setTimeout(() => this.#askAgain(id, send), askAgainMs)
      return
    }
    const question = this.#take(id)
    if (question === undefined) return
    const { emojiIds, reject, resolve } = question
    const half = code === "too_large" ? emojiIds.length >> 1 : 0
    const parts = [emojiIds.slice(0, half), emojiIds.slice(half)]
    if (half === 0) reject(new Error(error))
    else
      Promise.all(parts.map((part) => this.#askOnce(part, send))).then((all) => resolve(all.flat()), reject)
  }

  #askAgain(id: string, send: (frame: ClientFrame) => void): void {
    const question = this.#open.get(id)
    if (question !== undefined) send(question.frame)
  }

  fail(id: string, message: string): void {
    this.#take(id)?.reject(new Error(message))
  }

  failAll(message: string): void {
    for (const id of [...this.#open.keys()]) this.fail(id, message)
  }

  #take(id = ""): Question | undefined {
    const question = this.#open.get(id)
    this.#open.delete(id)
    clearTimeout(question?.timer)
    return question
  }
}
