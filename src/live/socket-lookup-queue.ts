import { Exit } from "effect"
import { type ClientFrame, type ErrorFrame, liveLimits } from "../../schema/live-frames.ts"
import type { encode } from "./protocol.ts"
import type { SessionPorts } from "./socket-session.ts"

type LookupFrame = ClientFrame & { type: "lookup" }

export const withId = (id: string | null | undefined): { readonly id?: string } => (id == null ? {} : { id })

/**
 * A socket's lookups, answered one after another: whoever asks much waits for themself, and what nobody waits for is not
 * read.
 */
export class LookupQueue {
  readonly #ports: Pick<SessionPorts, "directory" | "run">
  readonly #send: (frame: Parameters<typeof encode>[0]) => void
  readonly #isFull: () => boolean
  #waiting: Array<LookupFrame> = []
  /** The next one waits for room in the socket. */
  #isHeld = false

  constructor(
    ports: Pick<SessionPorts, "directory" | "run">,
    send: (frame: Parameters<typeof encode>[0]) => void,
    isFull: () => boolean,
  ) {
    this.#ports = ports
    this.#send = send
    this.#isFull = isFull
  }

  ask(frame: LookupFrame) {
    if (this.#waiting.length >= liveLimits.lookupsWaiting)
      return this.#refuse(frame, "unavailable", "Too many lookups of this socket are waiting. Try again.")
    this.#waiting.push(frame)
    if (this.#waiting.length === 1) this.#answerNext()
  }

  /** The socket has room again. */
  drained() {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.#answerNext()
  }

  /** Nobody waits any more. */
  end() {
    this.#waiting = []
  }

  #answerNext() {
    const [frame] = this.#waiting
    if (frame === undefined) return
    // Whoever reads slower than they ask would else be cut off for what they have asked for.
    this.#isHeld = this.#isFull()
    if (this.#isHeld) return
    const { directory, run } = this.#ports
    run(directory.lookup(frame.emoji_ids), (exit) => {
      if (Exit.isFailure(exit))
        this.#refuse(frame, "unavailable", "The directory could not be read. Try again.")
      else if (exit.value === undefined) this.#refuse(frame, "too_large", "Ask for fewer ids at once.")
      else this.#send({ type: "records", ...withId(frame.id), results: exit.value })
      this.#waiting.shift()
      this.#answerNext()
    })
  }

  #refuse({ id }: LookupFrame, code: ErrorFrame["code"], error: string) {
    this.#send({ type: "error", code, error, ...withId(id) })
  }
}
