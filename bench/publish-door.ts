import type { HttpResponse, TemplatedApp } from "uWebSockets.js"

const gatherMs = 1

interface Asked {
  readonly channel: string
  /** Undefined once nobody waits for the answer. */
  res: HttpResponse | undefined
}

/** Publishes to the channels, and says when that was decided: from then on a frame is on its way. By `machineMs`. */
type Publish = (channels: readonly string[]) => number | Promise<number>

/**
 * POST /publish/{channel}, beside the live socket of whoever is measured. What is asked for within a millisecond, or while
 * the last was under way, is published together: how many frames a socket is sent at once must not depend on how the
 * requests happen to arrive. The answer is the moment of the commit.
 */
export class PublishDoor {
  readonly #publish: Publish
  /** By how they are written in a path: some are longer to decode than others, and that is nobody's cost. */
  readonly #channels = new Map<string, string>()
  #waiting: Asked[] = []
  #isIdle = true

  constructor(app: TemplatedApp, publish: Publish) {
    this.#publish = publish
    app.post("/publish/:channel", (res, req) => {
      const asked: Asked = { channel: this.#channelAt(req.getParameter(0) ?? ""), res }
      res.onAborted(() => {
        asked.res = undefined
      })
      this.#waiting.push(asked)
      if (this.#isIdle) void this.#work()
    })
  }

  /** Nothing is waiting and nothing under way. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  #channelAt(written: string): string {
    const known = this.#channels.get(written)
    if (known !== undefined) return known
    const channel = decodeURIComponent(written)
    this.#channels.set(written, channel)
    return channel
  }

  async #work(): Promise<void> {
    this.#isIdle = false
    while (this.#waiting.length > 0) {
      await new Promise((next) => setTimeout(next, gatherMs))
      const batch = this.#waiting
      this.#waiting = []
      const answer = String(await this.#publish(batch.map(({ channel }) => channel)))
      for (const { res } of batch) res?.cork(() => res.end(answer))
    }
    this.#isIdle = true
  }
}
