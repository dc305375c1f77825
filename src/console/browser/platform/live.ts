import type { LiveLookupResult } from "../../../client/api-types.ts"
import type { LiveChannel } from "../../../client/live/channel-state.ts"
import { watchId } from "../../../client/live/watch-id.ts"
import { signal } from "../parts/signal.ts"
import { client, liveStatus } from "./session.ts"

/** The live connection of this tab. All views share it. */

export const liveState = signal<"connecting" | "live" | "waiting">("connecting")

export const startLive = (): void => {
  liveStatus.watch((status) => {
    if (status === "waiting") liveState.set("waiting")
    else if (status === "connected") liveState.set("live")
  })
  const reconnectNow = (): void => {
    if (!document.hidden) client.live.reconnectNow()
  }
  addEventListener("online", reconnectNow)
  document.addEventListener("visibilitychange", reconnectNow)
  // Keeps the connection open on every page, so that the page notices when the service cannot be reached.
  subscribe("market", {})
}

export interface Listener {
  readonly onState?: (state: unknown) => void
  readonly onEvent?: (event: string, data: unknown, at: string) => void
}

/** Subscribes to a channel. Returns a function that ends the subscription. */
export const subscribe = (channel: LiveChannel, { onEvent, onState }: Listener): (() => void) =>
  client.live.subscribe(channel, {
    state: (state) => onState?.(state),
    event: ({ at, data, event }) => onEvent?.(event, data, at),
  })

interface Follower {
  /** Called with the current records, and again after every change. */
  readonly onResult: (result: LiveLookupResult, isChange: boolean) => void
  readonly onEvent?: (event: string) => void
}

/** Follows the records of an id. Returns a function that ends this. */
export const follow = (id: string, { onEvent, onResult }: Follower): (() => void) => {
  let version: number | undefined
  const stopWatching = watchId(client.live, id, (result) => {
    onResult(result, version !== undefined && version !== result.version)
    version = result.version
  })
  const stopListening = onEvent && subscribe(`emoji_id:${id}`, { onEvent: (event) => onEvent(event) })
  return () => {
    stopWatching()
    stopListening?.()
  }
}
