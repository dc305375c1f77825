import { ApiError } from "../api-error.ts"
import type { ProofKeys } from "../api-types.ts"
import type { AskedAnswers } from "./asked.ts"
import { ProofRefused, type Verified, type VerifyOptions, verifyAnswer } from "./verify.ts"

/** The keys are read again for an unknown key after this time, and for any proof after a day. */
const rereadMs = 60_000
const staleMs = 24 * 60 * 60 * 1000

/** The options of `client.verify`. The client knows the id and the request of its own answers. */
export type ClientVerifyOptions = Partial<VerifyOptions> & {
  /** The key document, if it was stored. Without it, the client reads it once. */
  readonly keys?: ProofKeys
}

/** Verifies the answers of one client. */
export class AnswerVerifier {
  readonly #asked: AskedAnswers
  readonly #read: () => Promise<ProofKeys>
  #keys: { readonly document: Promise<ProofKeys>; readonly readAt: number } | undefined

  constructor(asked: AskedAnswers, read: () => Promise<ProofKeys>) {
    this.#asked = asked
    this.#read = read
  }

  /** Returns the key document, which is read again if it is older than this. */
  keys(maxAgeMs = staleMs): Promise<ProofKeys> {
    if (this.#keys !== undefined && Date.now() - this.#keys.readAt < maxAgeMs) return this.#keys.document
    const document = this.#read()
    const made = { document, readAt: Date.now() }
    this.#keys = made
    document.catch(() => {
      if (this.#keys === made) this.#keys = undefined
    })
    return document
  }

  async verify(given: object, { keys, ...options }: ClientVerifyOptions = {}): Promise<Verified> {
    const answer = given instanceof ApiError ? Object(given.body) : given
    const { emojiId, request } = { ...this.#asked.find(answer), ...options }
    if (emojiId === undefined || request === undefined)
      throw new TypeError("This is not an answer of this client. Pass `emojiId` and `request`.")
    const asked = { ...options, emojiId, request }
    const document = keys ?? (await this.keys())
    return verifyAnswer(document, answer, asked).catch(async (error: unknown) => {
      const isUnknown = error instanceof ProofRefused && error.code === "unknown_key"
      if (!isUnknown || keys !== undefined) throw error
      return verifyAnswer(await this.keys(rereadMs), answer, asked)
    })
  }
}
