import type { ClientFrame, ErrorFrame, LiveLookupResult } from "../api-types.ts"
import { lookupIds, truncateForLookup } from "./protocol-constants.ts"

interface Lookup {
  readonly emojiIds: ReadonlyArray<string>
  readonly frame: ClientFrame & { readonly type: "lookup" }
  readonly resolve: (results: ReadonlyArray<LiveLookupResult>) => void
  readonly reject: (error: Error) => void
  timer?: ReturnType<typeof setTimeout>
}

const retryMs = 500

/** Lookups without a result yet. After a reconnect they are sent again. */
export class PendingRequests {
  readonly #pending = new Map<string, Lookup>()
  readonly #timeoutMs: number
  #lastId = 0
  #resultAt = Number.NEGATIVE_INFINITY

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  get arePending(): boolean {
    return this.#pending.size > 0
  }

  /** Looks up the ids in as many frames as needed. */
  async request(
    emojiIds: ReadonlyArray<string>,
    send: (frame: ClientFrame) => void,
    proof = false,
  ): Promise<ReadonlyArray<LiveLookupResult>> {
    const results: Array<Promise<ReadonlyArray<LiveLookupResult>>> = []
    for (let from = 0; from < emojiIds.length; from += lookupIds)
      results.push(this.#requestOnce(emojiIds.slice(from, from + lookupIds), send, proof))
    return (await Promise.all(results)).flat()
  }

  #requestOnce(
    emojiIds: ReadonlyArray<string>,
    send: (frame: ClientFrame) => void,
    proof: boolean,
  ): Promise<ReadonlyArray<LiveLookupResult>> {
    return new Promise((resolve, reject) => {
      const id = String(++this.#lastId)
      const frame: Lookup["frame"] = {
        type: "lookup",
        id,
        emoji_ids: emojiIds.map(truncateForLookup),
        ...(proof ? { proof } : {}),
      }
      const withRequestedIds = (results: ReadonlyArray<LiveLookupResult>) =>
        resolve(results.map((found, at) => ({ ...found, emoji_id: emojiIds[at] ?? found.emoji_id })))
      const lookup: Lookup = { emojiIds, frame, resolve: withRequestedIds, reject }
      this.#pending.set(id, lookup)
      this.#failAfter(this.#timeoutMs, id, lookup)
      send(frame)
    })
  }

  /**
   * Fails a lookup if no result of any lookup arrives during the timeout. Each result extends the time, because the
   * server answers lookups one after another.
   */
  #failAfter(ms: number, id: string, lookup: Lookup): void {
    lookup.timer = setTimeout(() => {
      const leftMs = this.#resultAt + this.#timeoutMs - performance.now()
      if (leftMs > 0) this.#failAfter(leftMs, id, lookup)
      else this.fail(id, "The lookup timed out")
    }, ms)
  }

  *frames(): Generator<ClientFrame> {
    for (const { frame } of this.#pending.values()) yield frame
  }

  answer(id: string | undefined, results: ReadonlyArray<LiveLookupResult>): void {
    this.#resultAt = performance.now()
    this.#take(id)?.resolve(results)
  }

  /**
   * Handles an error: splits a lookup whose result is too large, and repeats a lookup that failed temporarily. After
   * any other error, the lookup fails.
   */
  refused({ code, error, id = "" }: ErrorFrame, send: (frame: ClientFrame) => void): void {
    if (code === "unavailable") {
      setTimeout(() => this.#retry(id, send), retryMs)
      return
    }
    const lookup = this.#take(id)
    if (lookup === undefined) return
    const { emojiIds, frame, reject, resolve } = lookup
    const half = code === "too_large" ? emojiIds.length >> 1 : 0
    const parts = [emojiIds.slice(0, half), emojiIds.slice(half)]
    if (half === 0) reject(new Error(error))
    else
      Promise.all(parts.map((part) => this.#requestOnce(part, send, frame.proof === true))).then(
        (all) => resolve(all.flat()),
        reject,
      )
  }

  #retry(id: string, send: (frame: ClientFrame) => void): void {
    const lookup = this.#pending.get(id)
    if (lookup !== undefined) send(lookup.frame)
  }

  fail(id: string, message: string): void {
    this.#take(id)?.reject(new Error(message))
  }

  failAll(message: string): void {
    for (const id of [...this.#pending.keys()]) this.fail(id, message)
  }

  #take(id = ""): Lookup | undefined {
    const lookup = this.#pending.get(id)
    this.#pending.delete(id)
    clearTimeout(lookup?.timer)
    return lookup
  }
}
