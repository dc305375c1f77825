import type { HttpResponse, TemplatedApp } from "uWebSockets.js"

const batchMs = 1

interface PendingPublish {
  readonly channel: string
  /** Undefined after the client has disconnected. */
  res: HttpResponse | undefined
}

/** Publishes to the channels and returns the time of the commit, by `machineMs`. */
type Publish = (channels: readonly string[]) => number | Promise<number>

/**
 * Serves POST /publish/{channel} on the measured server. Requests that arrive within one millisecond, or during the
 * previous publish, are published together, so that the number of frames per write does not depend on the arrival
 * times. The response is the time of the commit.
 */
export class PublishEndpoint {
  readonly #publish: Publish
  /** Decoded channel names by path. Decoding time differs between names and must not be measured. */
  readonly #channels = new Map<string, string>()
  #waiting: PendingPublish[] = []
  #isIdle = true

  constructor(app: TemplatedApp, publish: Publish) {
    this.#publish = publish
    app.post("/publish/:channel", (res, req) => {
      const pending: PendingPublish = { channel: this.#channelAt(req.getParameter(0) ?? ""), res }
      res.onAborted(() => {
        pending.res = undefined
      })
      this.#waiting.push(pending)
      if (this.#isIdle) void this.#work()
    })
  }

  /** Whether no request is waiting or being published. */
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
      await new Promise((next) => setTimeout(next, batchMs))
      const batch = this.#waiting
      this.#waiting = []
      const answer = String(await this.#publish(batch.map(({ channel }) => channel)))
      for (const { res } of batch) res?.cork(() => res.end(answer))
    }
    this.#isIdle = true
  }
}
