import type { LiveLookupResult } from "../../../client/api-types.ts"
import type { LiveChannel } from "../../../client/live/channel-state.ts"
import { LiveConnection } from "../../../client/live/connection.ts"
import type { LiveStatus } from "../../../client/live/options.ts"
import { watchId } from "../../../client/live/watch-id.ts"
import { signal } from "../parts/signal.ts"
import { claimsOf, refresh, tokens } from "./session.ts"

/** The live connection of this tab. All views share it. */

export const liveState = signal<"connecting" | "live" | "waiting">("connecting")

const showStatus = (status: LiveStatus): void => {
  if (status === "waiting") liveState.set("waiting")
  else if (status === "connected") liveState.set("live")
}

const connection = new LiveConnection({
  url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`,
  socket: WebSocket,
  credentials: {
    apiKey: undefined,
    get canRenew() {
      return tokens.value !== undefined
    },
    token: async () => tokens.value?.access_token,
    renew: async () => {
      await refresh()
      return tokens.value?.access_token ?? ""
    },
  },
  onStatus: showStatus,
})

const userOf = (token: string | undefined): string | undefined =>
  token === undefined ? undefined : claimsOf(token).sub

export const startLive = (): void => {
  let user = userOf(tokens.value?.access_token)
  tokens.watch((value) => {
    const next = userOf(value?.access_token)
    if (next === user) return
    user = next
    connection.userChanged()
  })
  const reconnectNow = (): void => {
    if (!document.hidden) connection.reconnectNow()
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
  connection.subscribe(channel, {
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
  const stopWatching = watchId(connection, id, (result) => {
    onResult(result, version !== undefined && version !== result.version)
    version = result.version
  })
  const stopListening = onEvent && subscribe(`emoji_id:${id}`, { onEvent: (event) => onEvent(event) })
  return () => {
    stopWatching()
    stopListening?.()
  }
}
