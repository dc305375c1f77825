import { signal } from "../parts/signal.js"
import { refresh, tokens } from "./session.js"

/**
 * The live socket. A channel is asked for once however many listen, and after a break it goes on where it was, by its
 * epoch and offset. The frames are those of PROTOCOL.md.
 * @typedef {{onState?: (state: any) => void, onEvent?: (event: string, data: any, at: string) => void, onRefused?: (error: string) => void}} Listener
 * @typedef {{asked: string, shown: string, position: {epoch: string, offset: number} | undefined, listeners: Set<Listener>}} Entry
 */

const firstWaitMs = 500
const longestWaitMs = 30_000
const pingEveryMs = 25_000
/** The token is the reason, or the login: a refresh tells. */
const tokenEnded = new Set([4401, 4402, 4403])

/** @type {import("../parts/signal.js").Signal<"connecting" | "live" | "waiting">} */
export const liveState = signal("connecting")

/** @type {Map<string, Entry>} by the name the server knows */
const entries = new Map()
/** Asked and not answered yet. @type {Map<string, {id: string, answered: (result: any) => void}>} */
const questions = new Map()
/** @type {WebSocket | undefined} */
let socket
let isOpen = false
/** Whether anything came since the last ping. */
let isHeard = false
let boundMs = firstWaitMs
let timer = 0
let asked = 0
/** The user whose token the socket was opened with. */
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
const subscribeTo = (entry) => send({ type: "subscribe", channel: entry.shown, ...(entry.position ?? {}) })

/** @param {string} question @param {string} id */
const ask = (question, id) => send({ type: "lookup", id: question, emoji_ids: [id] })

const connectFrame = () => {
  const token = tokens.value?.access_token
  return { type: "connect", ...(token === undefined ? {} : { token }) }
}

/** @param {string} channel */
const find = (channel) =>
  entries.get(channel) ?? [...entries.values()].find(({ asked: name }) => name === channel)

const onFrame = {
  connected: () => {
    boundMs = firstWaitMs
    liveState.set("live")
  },
  subscribed: (frame) => {
    const entry = find(frame.requested ?? frame.channel)
    if (entry === undefined) return
    if (entry.shown !== frame.channel) {
      entries.delete(entry.shown)
      entry.shown = frame.channel
      entries.set(frame.channel, entry)
    }
    entry.position = { epoch: frame.epoch, offset: frame.offset }
    if (!frame.recovered) for (const listener of [...entry.listeners]) listener.onState?.(frame.state)
  },
  event: (frame) => {
    const entry = entries.get(frame.channel)
    if (entry?.position === undefined) return
    // A hole can only be a fault of ours: asking again from the last good place mends it.
    if (frame.offset !== entry.position.offset + 1) return subscribeTo(entry)
    entry.position = { ...entry.position, offset: frame.offset }
    for (const listener of [...entry.listeners]) listener.onEvent?.(frame.event, frame.data, frame.at)
  },
  records: (frame) => {
    questions.get(frame.id)?.answered(frame.results[0])
    questions.delete(frame.id)
  },
  unsubscribed: () => {},
  error: (frame) => {
    // What is shown is known to be out of date, so the question stays.
    const askAgain = () => questions.has(frame.id) && ask(frame.id, questions.get(frame.id).id)
    if (questions.has(frame.id)) setTimeout(askAgain, firstWaitMs)
    const entry = frame.channel === undefined ? undefined : find(frame.channel)
    if (entry !== undefined) for (const listener of [...entry.listeners]) listener.onRefused?.(frame.error)
  },
}

const wait = () => {
  clearTimeout(timer)
  liveState.set("waiting")
  timer = setTimeout(open, Math.random() * boundMs)
  boundMs = Math.min(boundMs * 2, longestWaitMs)
}

/** @param {number} [code] */
const onClosed = async (code) => {
  isOpen = false
  socket = undefined
  if (tokenEnded.has(code)) await refresh().catch(() => {})
  wait()
}

const open = () => {
  clearTimeout(timer)
  if (socket !== undefined) return
  const opening = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`)
  socket = opening
  isHeard = true
  subject = subjectOf(tokens.value?.access_token)
  opening.addEventListener("open", () => {
    if (socket !== opening) return
    isOpen = true
    send(connectFrame())
    for (const entry of entries.values()) subscribeTo(entry)
    for (const [question, { id }] of questions) ask(question, id)
  })
  opening.addEventListener("message", ({ data }) => {
    if (socket !== opening) return
    isHeard = true
    const frame = JSON.parse(data)
    onFrame[frame.type]?.(frame)
  })
  opening.addEventListener("close", ({ code }) => {
    if (socket === opening) onClosed(code)
  })
}

/** A network that went away closes nothing: whoever does not answer is not there any more. */
const checkPulse = () => {
  const quiet = socket
  if (quiet === undefined) return
  if (isHeard) {
    isHeard = false
    return send({ type: "ping" })
  }
  onClosed()
  quiet.close()
}

/** Another person, another socket: channels of the one before are not theirs. */
const reopen = () => {
  const old = socket
  socket = undefined
  isOpen = false
  old?.close()
  for (const entry of entries.values()) entry.position = undefined
  boundMs = firstWaitMs
  open()
}

export const startLive = () => {
  open()
  tokens.watch((value) => {
    const next = subjectOf(value?.access_token)
    if (next !== subject) reopen()
    else if (next !== undefined) send(connectFrame())
  })
  const hurry = () => {
    if (socket === undefined && !document.hidden) open()
  }
  addEventListener("online", hurry)
  document.addEventListener("visibilitychange", hurry)
  setInterval(checkPulse, pingEveryMs)
}

/**
 * Listens to a channel until the function it answers is called.
 * @param {string} channel @param {Listener} listener
 */
export const subscribe = (channel, listener) => {
  const entry = find(channel) ?? {
    asked: channel,
    shown: channel,
    position: undefined,
    listeners: new Set(),
  }
  entry.listeners.add(listener)
  entries.set(entry.shown, entry)
  // Whoever joins needs the state too: without a position the server tells it again.
  entry.position = undefined
  subscribeTo(entry)
  return () => {
    entry.listeners.delete(listener)
    if (entry.listeners.size > 0 || entries.get(entry.shown) !== entry) return
    entries.delete(entry.shown)
    send({ type: "unsubscribe", channel: entry.shown })
  }
}

/** What an id points at now, read from the database; asked again after a break. @param {string} id @returns {Promise<any>} */
const lookUp = (id) =>
  new Promise((resolve) => {
    const question = `q${++asked}`
    questions.set(question, { id, answered: resolve })
    ask(question, id)
  })

/**
 * Follows what an id points at until the function it answers is called. Each change is looked up, and an answer that
 * was overtaken by a newer question is not told: it may be what was true before.
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
