import { Effect, Exit } from "effect"
import { type ClientFrame, type ErrorFrame, liveLimits } from "../../schema/live-frames.ts"
import type { encode } from "./protocol.ts"
import type { SessionPorts } from "./socket-session.ts"

interface Ports extends Pick<SessionPorts, "directory" | "proofs" | "run"> {
  readonly address: string
}

type LookupFrame = ClientFrame & { type: "lookup" }

export const withId = (id: string | null | undefined): { readonly id?: string } => (id == null ? {} : { id })

/**
 * Answers the lookups of one socket one after another, so that many lookups of one client delay only that client.
 * Queued lookups are dropped when the socket closes.
 */
export class LookupQueue {
  readonly #ports: Ports
  readonly #send: (frame: Parameters<typeof encode>[0]) => void
  readonly #isFull: () => boolean
  #waiting: Array<LookupFrame> = []
  /** True while the next lookup waits for room in the socket. */
  #isHeld = false

  constructor(ports: Ports, send: (frame: Parameters<typeof encode>[0]) => void, isFull: () => boolean) {
    this.#ports = ports
    this.#send = send
    this.#isFull = isFull
  }

  add(frame: LookupFrame) {
    if (this.#waiting.length >= liveLimits.lookupsWaiting)
      return this.#refuse(
        frame,
        "unavailable",
        "This socket has too many pending lookups. Retry after you receive results.",
      )
    this.#waiting.push(frame)
    if (this.#waiting.length === 1) this.#answerNext()
  }

  /** Called when the socket has room again. Continues with the next lookup if it was waiting for room. */
  drained() {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#answerNext()
  }

  end() {
    this.#waiting = []
  }

  #answerNext() {
    const [frame] = this.#waiting
    if (frame === undefined) return
    // While the socket is full, the lookup waits. Without this, a client that sends many lookups and reads slowly would
    // be disconnected as a slow reader.
    this.#isHeld = this.#isFull()
    if (this.#isHeld) return
    const { directory, run } = this.#ports
    run(frame.proof === true ? this.#lookUpSigned(frame) : directory.lookup(frame.emoji_ids), (exit) => {
      if (Exit.isFailure(exit))
        this.#refuse(frame, "unavailable", "The directory is temporarily unavailable. Retry later.")
      else if (exit.value === undefined)
        this.#refuse(frame, "too_large", "The result is too large. Request fewer emoji ids per lookup.")
      else this.#send({ type: "records", ...withId(frame.id), results: exit.value })
      this.#waiting.shift()
      this.#answerNext()
    })
  }

  #lookUpSigned({ emoji_ids }: LookupFrame) {
    const { address, directory, proofs } = this.#ports
    return Effect.flatMap(directory.lookup(emoji_ids), (results) =>
      results === undefined ? Effect.succeed(undefined) : proofs.add(results, address),
    )
  }

  #refuse({ id }: LookupFrame, code: ErrorFrame["code"], error: string) {
    this.#send({ type: "error", code, error, ...withId(id) })
  }
}
