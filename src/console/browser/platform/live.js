import { signal } from "../parts/signal.js"
import { refresh, tokens } from "./session.js"

/**
 * The WebSocket connection for live updates. Listeners of the same channel share one subscription. After a disconnect,
 * each subscription resumes from its last epoch and offset. PROTOCOL.md describes the frames.
 * @typedef {{onState?: (state: any) => void, onEvent?: (event: string, data: any, at: string) => void, onRefused?: (error: string) => void}} Listener
 * @typedef {{requested: string, channel: string, position: {epoch: string, offset: number} | undefined, listeners: Set<Listener>}} Entry
 */

const minBackoffMs = 500
const maxBackoffMs = 30_000
const pingEveryMs = 25_000
/**
 * The close codes for an invalid or expired token, or an ended session. A token refresh then shows whether the session
 * is still valid.
 */
const tokenEnded = new Set([4401, 4402, 4403])

/** @type {import("../parts/signal.js").Signal<"connecting" | "live" | "waiting">} */
export const liveState = signal("connecting")

/** The subscriptions, by the channel name that the server uses. @type {Map<string, Entry>} */
const entries = new Map()
/**
 * The lookups that have no response yet, by request id.
 * @type {Map<string, {id: string, onResult: (result: any) => void}>}
 */
const pendingLookups = new Map()
/** @type {WebSocket | undefined} */
let socket
let isOpen = false
/** Whether a frame was received since the last ping. */
let hasReceived = false
let backoffMs = minBackoffMs
let timer = 0
let lookups = 0
/** The id of the user whose token opened the socket. Undefined if no user was signed in. */
let subject

/** @param {string | undefined} token */
const subjectOf = (token) => {
  if (token === undefined) return undefined
  const base64 = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")
  return JSON.parse(atob(base64)).sub
}

const send = (frame) => {
  if (isOpen) socket.send(JSON.stringify(frame))
}

/** @param {Entry} entry */
const subscribeTo = (entry) => send({ type: "subscribe", channel: entry.channel, ...(entry.position ?? {}) })

/** @param {string} requestId @param {string} id */
const sendLookup = (requestId, id) => send({ type: "lookup", id: requestId, emoji_ids: [id] })

const connectFrame = () => {
  const token = tokens.value?.access_token
  return { type: "connect", ...(token === undefined ? {} : { token }) }
}

/** @param {string} channel */
const find = (channel) =>
  entries.get(channel) ?? [...entries.values()].find(({ requested }) => requested === channel)

const onFrame = {
  connected: () => {
    backoffMs = minBackoffMs
    liveState.set("live")
  },
  subscribed: (frame) => {
    const entry = find(frame.requested ?? frame.channel)
    if (entry === undefined) return
    if (entry.channel !== frame.channel) {
      entries.delete(entry.channel)
      entry.channel = frame.channel
      entries.set(frame.channel, entry)
    }
    entry.position = { epoch: frame.epoch, offset: frame.offset }
    if (!frame.recovered) for (const listener of [...entry.listeners]) listener.onState?.(frame.state)
  },
  event: (frame) => {
    const entry = entries.get(frame.channel)
    if (entry?.position === undefined) return
    // Events were missed, which should not happen. Subscribing again from the last offset recovers them.
    if (frame.offset !== entry.position.offset + 1) return subscribeTo(entry)
    entry.position = { ...entry.position, offset: frame.offset }
    for (const listener of [...entry.listeners]) listener.onEvent?.(frame.event, frame.data, frame.at)
  },
  records: (frame) => {
    pendingLookups.get(frame.id)?.onResult(frame.results[0])
    pendingLookups.delete(frame.id)
  },
  unsubscribed: () => {},
  error: (frame) => {
    // If a lookup failed, the shown records are out of date, so the lookup is repeated until it succeeds.
    const retry = () => pendingLookups.has(frame.id) && sendLookup(frame.id, pendingLookups.get(frame.id).id)
    if (pendingLookups.has(frame.id)) setTimeout(retry, minBackoffMs)
    const entry = frame.channel === undefined ? undefined : find(frame.channel)
    if (entry !== undefined) for (const listener of [...entry.listeners]) listener.onRefused?.(frame.error)
  },
}

const scheduleReconnect = () => {
  clearTimeout(timer)
  liveState.set("waiting")
  timer = setTimeout(open, Math.random() * backoffMs)
  backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
}

/** @param {number} [code] */
const onClosed = async (code) => {
  isOpen = false
  socket = undefined
  if (tokenEnded.has(code)) await refresh().catch(() => {})
  scheduleReconnect()
}

const open = () => {
  clearTimeout(timer)
  if (socket !== undefined) return
  const opening = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`)
  socket = opening
  hasReceived = true
  subject = subjectOf(tokens.value?.access_token)
  opening.addEventListener("open", () => {
    if (socket !== opening) return
    isOpen = true
    send(connectFrame())
    for (const entry of entries.values()) subscribeTo(entry)
    for (const [requestId, { id }] of pendingLookups) sendLookup(requestId, id)
  })
  opening.addEventListener("message", ({ data }) => {
    if (socket !== opening) return
    hasReceived = true
    const frame = JSON.parse(data)
    onFrame[frame.type]?.(frame)
  })
  opening.addEventListener("close", ({ code }) => {
    if (socket === opening) onClosed(code)
  })
}

/**
 * Reconnects if nothing was received since the last ping. Otherwise sends a new ping. This check is needed, because a
 * socket stays open when the network is lost.
 */
const checkConnection = () => {
  const silent = socket
  if (silent === undefined) return
  if (hasReceived) {
    hasReceived = false
    return send({ type: "ping" })
  }
  onClosed()
  silent.close()
}

/**
 * Reconnects after the user changed. All subscriptions start without a position, because private channels now belong
 * to another user.
 */
const reopen = () => {
  const old = socket
  socket = undefined
  isOpen = false
  old?.close()
  for (const entry of entries.values()) entry.position = undefined
  backoffMs = minBackoffMs
  open()
}

export const startLive = () => {
  open()
  tokens.watch((value) => {
    const next = subjectOf(value?.access_token)
    if (next !== subject) reopen()
    else if (next !== undefined) send(connectFrame())
  })
  const reconnectNow = () => {
    if (socket === undefined && !document.hidden) open()
  }
  addEventListener("online", reconnectNow)
  document.addEventListener("visibilitychange", reconnectNow)
  setInterval(checkConnection, pingEveryMs)
}

/**
 * Subscribes to a channel. Returns a function that ends the subscription.
 * @param {string} channel @param {Listener} listener
 */
export const subscribe = (channel, listener) => {
  const entry = find(channel) ?? {
    requested: channel,
    channel,
    position: undefined,
    listeners: new Set(),
  }
  entry.listeners.add(listener)
  entries.set(entry.channel, entry)
  // A new listener needs the current state. The server sends the state if the position is undefined.
  entry.position = undefined
  subscribeTo(entry)
  return () => {
    entry.listeners.delete(listener)
    if (entry.listeners.size > 0 || entries.get(entry.channel) !== entry) return
    entries.delete(entry.channel)
    send({ type: "unsubscribe", channel: entry.channel })
  }
}

/**
 * Reads the current records of an id. If the connection is lost, the lookup is sent again after the reconnect.
 * @param {string} id @returns {Promise<any>}
 */
const lookUp = (id) =>
  new Promise((resolve) => {
    const requestId = `q${++lookups}`
    pendingLookups.set(requestId, { id, onResult: resolve })
    sendLookup(requestId, id)
  })

/**
 * Passes the records of an id to `onResult`, first the current ones and then after every change. Each event causes a
 * lookup. A response is ignored if a newer lookup was sent, because the response may be out of date. Returns a
 * function that ends the subscription.
 * @param {string} id @param {{onResult: (result: any, isChange: boolean) => void, onEvent?: (event: string) => void, onRefused?: (error: string) => void}} listener
 */
export const follow = (id, { onEvent, onRefused, onResult }) => {
  let newest = 0
  return subscribe(`emoji_id:${id}`, {
    onState: (result) => {
      newest++
      onResult(result, false)
    },
    onEvent: async (event) => {
      onEvent?.(event)
      const own = ++newest
      const result = await lookUp(id)
      if (own === newest) onResult(result, true)
    },
    onRefused,
  })
}
