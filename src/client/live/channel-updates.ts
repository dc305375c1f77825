import type { EventFrame } from "../api-types.ts"
import type { ChannelState, LiveChannel } from "./channel-state.ts"
import type { LiveConnection } from "./connection.ts"
import type { ChannelHandlers, RefusalCode } from "./subscriptions.ts"
import { UpdateQueue } from "./update-queue.ts"

/** The current state of a channel, which replaces all that was known about it, or one later event. */
export type ChannelUpdate<C extends LiveChannel = LiveChannel> =
  | { readonly type: "state"; readonly state: ChannelState<C> }
  | { readonly type: "event"; readonly event: EventFrame }

/** The service has refused a subscription or has ended it. */
export class ChannelRefused extends Error {
  override readonly name = "ChannelRefused"
  readonly channel: string
  readonly code: RefusalCode

  constructor(channel: string, code: RefusalCode) {
    super(`The service refused the channel ${channel}: ${code}`)
    this.channel = channel
    this.code = code
  }
}

/** More updates than this that were not read are replaced by the current state. */
const maxUnread = 1000

export const handlersFor = <C extends LiveChannel>(
  channel: C,
  target: {
    readonly push: (update: ChannelUpdate<C>) => void
    readonly fail: (error: unknown) => void
    readonly close: () => void
  },
): ChannelHandlers<ChannelState<C>> => ({
  state: (state) => target.push({ type: "state", state }),
  event: (event) => target.push({ type: "event", event }),
  refused: (code) => target.fail(new ChannelRefused(channel, code)),
  closed: () => target.close(),
})

/** Closes the queue when the application aborts the loop. Returns a function that stops listening for this. */
export const closeOnAbort = (signal: AbortSignal | undefined, close: () => void): (() => void) => {
  signal?.addEventListener("abort", close, { once: true })
  if (signal?.aborted) close()
  return () => signal?.removeEventListener("abort", close)
}

/** Subscribes to a channel for a `for await` loop. */
export const updatesOf = <C extends LiveChannel>(
  connection: LiveConnection,
  channel: C,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<ChannelUpdate<C>> => {
  let leave = (): void => {}
  let stopListening = (): void => {}
  const queue = new UpdateQueue<ChannelUpdate<C>>(() => {
    leave()
    stopListening()
  })
  const listen = (): void => {
    leave = connection.subscribe(
      channel,
      handlersFor(channel, {
        push: (update) => {
          if (queue.length < maxUnread) return queue.push(update)
          queue.clear()
          leave()
          listen()
        },
        fail: (error) => queue.fail(error),
        close: () => queue.close(),
      }),
    )
  }
  if (signal?.aborted !== true) listen()
  stopListening = closeOnAbort(signal, () => {
    queue.clear()
    queue.close()
  })
  return queue
}
