import { Arbitrary, Effect, Schema } from "effect"
import { WebSocket } from "ws"
import { clientFrames, closeCodes, serverFrames } from "../../../schema/live-frames.ts"
import { type Luck, seeded } from "../../fixtures/walk.ts"
import { hostileBytes, hostileJson, hostileText } from "./hostile.ts"
import type { Target } from "./lane.ts"
import { mutatedValue } from "./mutate-body.ts"
import type { Tally } from "./tally.ts"

const framesPerSocket = 60
const samplesPerFrame = 20
const deadlineMs = 30_000
/** The codes with which the service, uWebSockets.js or the network may end a socket. */
const knownCodes = new Set<number>([...Object.values(closeCodes), 1000, 1005, 1006, 1007, 1009])
const channels = [
  "market",
  "cart",
  "session",
  "order:",
  "emoji_id:🚀🌊🔥",
  "emoji_id:",
  "transfer:",
  "interests",
]

const isServerFrame = (text: string): boolean => {
  const frame = JSON.parse(text) as { readonly type: keyof typeof serverFrames }
  const schema = Object.hasOwn(serverFrames, frame.type) ? serverFrames[frame.type] : undefined
  return schema !== undefined && Schema.is(Schema.toEncoded(schema as Schema.Top))(frame)
}

/** Frames that the schemas of the protocol describe. */
const sampled = (seed: number): ReadonlyArray<unknown> =>
  Object.values(clientFrames).flatMap((schema) => {
    const arbitrary = Arbitrary.schema(Schema.toEncoded(schema as Schema.Top))
    const drawn = Arbitrary.sampleEffect(arbitrary, { count: samplesPerFrame, size: 10, seed })
    return Effect.runSync(Effect.orElseSucceed(drawn, () => []))
  })

const randomFrame = (samples: ReadonlyArray<unknown>, luck: Luck): string | Uint8Array => {
  const written = (frame: unknown) => JSON.stringify(frame) ?? "null"
  switch (luck.below(8)) {
    case 0:
      return luck.pick(hostileJson)!
    case 1:
      return luck.pick(hostileBytes)!
    case 2:
      return written({
        type: "subscribe",
        channel: `${luck.pick(channels)}${luck.chance(0.5) ? hostileText(luck) : ""}`,
      })
    case 3:
    case 4:
      return written(mutatedValue(luck.pick(samples), luck))
    default:
      return written(luck.pick(samples))
  }
}

interface Live {
  readonly socket: WebSocket
  readonly closed: Promise<number>
  readonly waiting: Map<string, () => void>
}

const openSocket = (target: Target, tally: Tally): Promise<Live | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${target.port}/live`)
    const waiting = new Map<string, () => void>()
    const closed = new Promise<number>((end) => {
      socket.onclose = ({ code }) => end(code)
    })
    socket.onerror = () => resolve(undefined)
    socket.onmessage = ({ data }) => {
      const text = String(data)
      if (!isServerFrame(text))
        tally.violation(`a live frame that does not match its schema: ${text.slice(0, 400)}`)
      if (target.secrets.some((secret) => text.includes(secret)))
        tally.violation("a live frame with a secret")
      waiting.get(/^\{"type":"pong","id":"([\w-]+)"\}$/.exec(text)?.[1] ?? "")?.()
    }
    socket.onopen = () => resolve({ socket, closed, waiting })
  })

const within = <A>(promise: Promise<A>): Promise<A | "hung"> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<"hung">((resolve) => {
    timer = setTimeout(() => resolve("hung"), deadlineMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Sends a frame and then a ping. The service must answer the ping, or close the socket with a known code. */
const exchange = async (
  { closed, socket, waiting }: Live,
  frame: string | Uint8Array,
  id: string,
  tally: Tally,
) => {
  const ponged = new Promise<"ponged">((resolve) => {
    waiting.set(id, () => resolve("ponged"))
  })
  socket.send(frame)
  socket.send(JSON.stringify({ type: "ping", id }))
  tally.liveFrames += 2
  const outcome = await within(Promise.race([ponged, closed]))
  waiting.delete(id)
  if (outcome === "ponged") return true
  if (outcome === "hung" || !knownCodes.has(outcome))
    tally.violation(`a live socket that ended with ${outcome} after ${JSON.stringify(frame).slice(0, 1000)}`)
  if (outcome === "hung") tally.hangs++
  return false
}

/** Sends random frames on live sockets, one socket after the other, until `isOver` returns true. */
export const fuzzLive = async (
  target: Target,
  tally: Tally,
  seed: number,
  isOver: () => boolean,
): Promise<void> => {
  const luck = seeded(seed)
  const samples = sampled(seed)
  const { email, password } = target.admin
  const login = await fetch(`http://127.0.0.1:${target.port}/auth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  })
  const { access_token: token } = (await login.json()) as { readonly access_token: string }
  for (let n = 0; !isOver(); n++) {
    const live = await openSocket(target, tally)
    if (live === undefined) return tally.violation("a live socket was refused")
    const connect = luck.pick([{}, { token }, { token: hostileText(luck) }])!
    live.socket.send(JSON.stringify({ type: "connect", ...connect }))
    for (let m = 0; m < framesPerSocket && !isOver(); m++)
      if (!(await exchange(live, randomFrame(samples, luck), `p-${n}-${m}`, tally))) break
    live.socket.terminate()
    await live.closed
  }
}
