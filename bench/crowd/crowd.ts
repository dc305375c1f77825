import type { Socket } from "node:net"
import type { Histogram } from "hdr-histogram-js"
import { openSocket } from "../load/http-lane.ts"
import type { Target } from "../load/request.ts"
import { newHistogram, record } from "../load/tally.ts"
import { waitUntil } from "../load/wait.ts"
import { encodeClientFrame, encodeText, opcodes, readServerFrames } from "./frame.ts"
import { readUpgrade, upgradeRequest } from "./handshake.ts"

const maxHandshakes = 128
const socketLimit = 50_000

export interface CrowdPlan {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Returns the frames that a socket sends after it is open, for example its subscription. */
  readonly hello: (socket: number) => readonly string[]
  /** The number of frames that the server sends in response to `hello`. A socket that has received them is ready. */
  readonly helloAnswers: number
  /**
   * Returns whether a frame that arrives on a ready socket counts as a delivery. By default all such frames count.
   * The payload is valid only during the call.
   */
  readonly isDelivery?: (payload: Buffer) => boolean
  /** If set, a frame that consists of this character is not a delivery, and the socket sends `answer` in response. */
  readonly ping?: { readonly code: number; readonly answer: string }
  /** Called for each delivery, for example to check a part of them. The payload is valid only during the call. */
  readonly inspect?: (socket: number, payload: Buffer) => void
}

export type OnDelivery = (socket: number, atMs: number) => void

/**
 * Many WebSocket clients in one process. Each client stores only its socket, two numbers and an incomplete frame, so
 * that ten thousand clients need little memory.
 */
export class Crowd {
  ready = 0
  readonly errors: Record<string, number> = {}
  /**
   * The times that the sockets needed to become ready, from the start of the connection to the last response to
   * `hello`.
   */
  readonly joining: Histogram = newHistogram()

  readonly #target: Target
  readonly #plan: CrowdPlan
  readonly #onDelivery: OnDelivery
  readonly #upgrade: Buffer
  readonly #sockets: (Socket | undefined)[]
  readonly #rest: (Buffer | undefined)[]
  readonly #startedAtMs: Float64Array
  /** For each socket: -1 during the handshake, then the number of received responses to `hello`. */
  readonly #answers: Int32Array
  #handshakes = 0
  #next = 0
  #closing = false

  constructor(size: number, target: Target, plan: CrowdPlan, onDelivery: OnDelivery) {
    if (size < 1 || size > socketLimit)
      throw new RangeError(`the number of sockets must be from 1 to ${socketLimit}, not ${size}`)
    this.#target = target
    this.#plan = plan
    this.#onDelivery = onDelivery
    this.#upgrade = upgradeRequest(target, plan.path, plan.headers)
    this.#sockets = new Array<Socket | undefined>(size).fill(undefined)
    this.#rest = new Array<Buffer | undefined>(size).fill(undefined)
    this.#startedAtMs = new Float64Array(size)
    this.#answers = new Int32Array(size)
  }

  get size(): number {
    return this.#sockets.length
  }

  /** Connects all sockets. Returns whether all of them became ready within the time limit. */
  async join(limitSeconds: number): Promise<boolean> {
    this.#closing = false
    this.#next = 0
    this.ready = 0
    this.#connectMore()
    await waitUntil(() => this.#next === this.size && this.#handshakes === 0, limitSeconds)
    return this.ready === this.size
  }

  leave(): void {
    this.#closing = true
    for (let i = 0; i < this.size; i++) {
      // A reset leaves no port in the state TIME_WAIT. Thousands of such ports would prevent new connections.
      this.#sockets[i]?.resetAndDestroy()
      this.#sockets[i] = undefined
      this.#rest[i] = undefined
    }
    this.#handshakes = 0
    this.ready = 0
  }

  #connectMore(): void {
    while (this.#handshakes < maxHandshakes && this.#next < this.size) this.#connect(this.#next++)
  }

  #connect(index: number): void {
    this.#handshakes++
    this.#answers[index] = -1
    this.#startedAtMs[index] = performance.now()
    const socket = openSocket(this.#target, (bytes, buffer) => this.#received(index, buffer, bytes))
    this.#sockets[index] = socket
    socket.once(this.#target.tls ? "secureConnect" : "connect", () => socket.write(this.#upgrade))
    socket.on("error", () => socket.destroy())
    socket.on("close", () => {
      if (this.#sockets[index] === socket) this.#lost(index, this.#isReady(index) ? "closed" : "connect")
    })
  }

  #received(index: number, chunk: Buffer, bytes: number): void {
    const rest = this.#rest[index]
    let buffer = chunk
    let end = bytes
    if (rest !== undefined) {
      buffer = Buffer.concat([rest, chunk.subarray(0, bytes)])
      end = buffer.length
    }
    try {
      const used = this.#read(index, buffer, end)
      this.#rest[index] = used < end ? Buffer.from(buffer.subarray(used, end)) : undefined
    } catch {
      this.#lost(index, "malformed")
    }
  }

  #read(index: number, buffer: Buffer, end: number): number {
    let start = 0
    if (this.#answers[index]! < 0) {
      const upgrade = readUpgrade(buffer, end)
      if (upgrade.state === "incomplete") return 0
      if (upgrade.state === "refused") {
        this.#lost(index, `status ${upgrade.status}`)
        return end
      }
      start = upgrade.bytes
      this.#answers[index] = 0
      for (const text of this.#plan.hello(index)) this.#sockets[index]?.write(encodeText(text))
      if (this.#plan.helloAnswers === 0) this.#joined(index)
    }
    const frames = start === 0 ? buffer : buffer.subarray(start)
    return (
      start + readServerFrames(frames, end - start, (opcode, payload) => this.#frame(index, opcode, payload))
    )
  }

  #frame(index: number, opcode: number, payload: Buffer): void {
    if (opcode === opcodes.ping) {
      this.#sockets[index]?.write(encodeClientFrame(opcodes.pong, payload))
    } else if (opcode === opcodes.close) {
      this.#lost(index, "closed")
    } else if (this.#plan.ping !== undefined && payload.length === 1 && payload[0] === this.#plan.ping.code) {
      this.#sockets[index]?.write(encodeText(this.#plan.ping.answer))
    } else if (opcode === opcodes.text || opcode === opcodes.binary) {
      if (this.#answers[index]! < this.#plan.helloAnswers) {
        this.#answers[index]! += 1
        if (this.#isReady(index)) this.#joined(index)
      } else if (this.#plan.isDelivery?.(payload) ?? true) {
        this.#onDelivery(index, performance.now())
        this.#plan.inspect?.(index, payload)
      }
    }
  }

  #isReady(index: number): boolean {
    return this.#answers[index] === this.#plan.helloAnswers
  }

  #joined(index: number): void {
    this.ready++
    record(this.joining, performance.now() - this.#startedAtMs[index]!)
    this.#handshakes--
    this.#connectMore()
  }

  #lost(index: number, kind: string): void {
    const wasReady = this.#isReady(index)
    this.#sockets[index]?.destroy()
    this.#sockets[index] = undefined
    this.#rest[index] = undefined
    if (this.#closing) return
    this.errors[kind] = (this.errors[kind] ?? 0) + 1
    if (wasReady) this.ready--
    else {
      this.#handshakes--
      this.#connectMore()
    }
  }
}
