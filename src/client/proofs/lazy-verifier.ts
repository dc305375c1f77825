import type { LiveLookupResult, ProofKeys } from "../api-types.ts"
import { AskedAnswers } from "./asked.ts"
import type { AnswerVerifier, ClientVerifyOptions } from "./verifier.ts"
import type { Verified } from "./verify.ts"

/** Remembers what was asked, and loads the verifier for the first proof, because many programs check none. */
export class LazyVerifier {
  readonly asked = new AskedAnswers()
  readonly #readKeys: () => Promise<ProofKeys>
  #verifier: Promise<AnswerVerifier> | undefined

  constructor(readKeys: () => Promise<ProofKeys>) {
    this.#readKeys = readKeys
  }

  /** Live results have the id that was requested, which this client has written into them. */
  addLive(found: LiveLookupResult): LiveLookupResult {
    this.asked.set(found, { emojiId: found.emoji_id, request: ["live"] })
    return found
  }

  async verify(answer: object, options?: ClientVerifyOptions): Promise<Verified> {
    return (await this.#load()).verify(answer, options)
  }

  #load(): Promise<AnswerVerifier> {
    if (this.#verifier !== undefined) return this.#verifier
    this.#verifier = import("./verifier.ts").then(
      ({ AnswerVerifier }) => new AnswerVerifier(this.asked, this.#readKeys),
    )
    // After a failure, the next call loads the file again.
    this.#verifier.catch(() => {
      this.#verifier = undefined
    })
    return this.#verifier
  }
}
