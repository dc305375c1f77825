import type { HttpResponse, TemplatedApp } from "uWebSockets.js"

const batchMs = 1

interface PendingPublish {
  readonly channel: string
  /** The response to send, or undefined after the client has disconnected. */
  res: HttpResponse | undefined
}

/**
 * Publishes one event to each of the channels. Returns the time of the commit, in milliseconds of the clock of
 * `machineMs`.
 */
type Publish = (channels: readonly string[]) => number | Promise<number>

/**
 * Serves POST /publish/{channel} on the measured server. Requests that arrive within one millisecond, or while
 * earlier requests are being published, are published together. So the number of frames per write does not depend on
 * the exact arrival times. The response body is the time of the commit.
 */
export class PublishEndpoint {
  readonly #publish: Publish
  /**
   * The decoded channel names, by the encoded name in the path. Each name is decoded only once, because decoding
   * takes longer for some names than for others and must not affect the measurement.
   */
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

  /** True if no request is waiting and none is being published. */
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
