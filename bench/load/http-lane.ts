import { connect as connectTcp, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { Auditor } from "../consistency/auditor.ts"
import type { Lane, Settle } from "./lane.ts"
import type { Target } from "./request.ts"
import { ResponseReader } from "./response-reader.ts"

/** Returns the bytes of the next request of a connection. */
export type RequestSource = (connection: number) => Buffer
/** Returns whether the response is as expected. The body is valid only during the call. */
export type Check = (answer: Answer, connection: number) => boolean

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

export interface HttpTraffic {
  readonly source: RequestSource
  /** Set if the traffic checks a part of the answers for consistency. */
  readonly auditor?: Auditor | undefined
  readonly check?: Check | undefined
  /** The statuses of successful responses. The default is 2xx and 304. */
  readonly statuses?: readonly number[] | undefined
  /**
   * If set, this function is used instead of `check` and `statuses`. Returns the kind of the error, or undefined if
   * the response is as expected.
   */
  readonly judge?: ((answer: Answer, connection: number) => string | undefined) | undefined
}

const reconnectAfterMs = 50
const connectWithinMs = 5_000
// All sockets without TLS share this buffer, because 10,000 buffers would waste memory. The bytes of one socket are
// processed before those of the next socket arrive.
const readBuffer = Buffer.allocUnsafe(256 * 1024)

export function openSocket(target: Target, onBytes: (bytes: number, buffer: Buffer) => void): Socket {
  const onread = {
    buffer: readBuffer,
    callback: (bytes: number, buffer: Uint8Array) => {
      onBytes(bytes, buffer as Buffer)
      return true
    },
  }
  if (!target.tls) return connectTcp({ host: target.host, port: target.port, noDelay: true, onread })
  const socket = connectTls({ host: target.host, port: target.port, servername: target.host })
  socket.setNoDelay(true)
  socket.on("data", (chunk: Buffer) => onBytes(chunk.length, chunk))
  return socket
}

export class HttpLane implements Lane {
  intendedAtMs = 0
  #socket: Socket | undefined
  #connected = false
  #busy = false
  #closed = false
  /**
   * The time when `expire` first saw the pending request, or 0 if it has not seen it. The timeout is counted from
   * this time, so that the clock is not read for each request.
   */
  #seenAtMs = 0
  #waiting: Buffer | undefined
  #reader: ResponseReader
  #failure: NodeJS.Timeout | undefined

  readonly #index: number
  readonly #target: Target
  readonly #traffic: HttpTraffic
  readonly #settle: Settle

  constructor(index: number, target: Target, traffic: HttpTraffic, settle: Settle) {
    this.#index = index
    this.#target = target
    this.#traffic = traffic
    this.#settle = settle
    this.#reader = this.#newReader()
  }

  fire(intendedAtMs: number): void {
    this.intendedAtMs = intendedAtMs
    this.#seenAtMs = 0
    this.#busy = true
    const request = this.#traffic.source(this.#index)
    if (this.#connected) {
      this.#socket!.write(request)
    } else {
      this.#waiting = request
      if (this.#socket === undefined) this.#connect()
    }
  }

  /**
   * Ends the pending request with an error if it takes too long. It is called periodically for all lanes, so that
   * requests need no timers.
   */
  expire(nowMs: number, timeoutMs: number): void {
    if (!this.#busy || this.#failure !== undefined) return
    if (this.#seenAtMs === 0) this.#seenAtMs = nowMs
    else if (nowMs - this.#seenAtMs > (this.#connected ? timeoutMs : connectWithinMs)) {
      this.#drop(this.#connected ? "timeout" : "connect")
    }
  }

  close(): void {
    this.#closed = true
    this.#busy = false
    clearTimeout(this.#failure)
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #newReader(): ResponseReader {
    return new ResponseReader((status, buffer, start, end, keepAlive) =>
      this.#answered(status, buffer, start, end, keepAlive),
    )
  }

  #connect(): void {
    this.#reader = this.#newReader()
    const socket = openSocket(this.#target, (bytes, buffer) => {
      if (socket !== this.#socket) return
      try {
        this.#reader.feed(buffer, bytes)
      } catch {
        this.#drop("malformed")
      }
    })
    this.#socket = socket
    socket.on(this.#target.tls ? "secureConnect" : "connect", () => {
      if (socket !== this.#socket) return
      this.#connected = true
      const waiting = this.#waiting
      this.#waiting = undefined
      if (waiting !== undefined) socket.write(waiting)
    })
    socket.on("error", () => socket.destroy())
    socket.on("close", () => {
      if (socket === this.#socket) this.#drop(this.#connected ? "reset" : "connect")
    })
  }

  #answered(status: number, buffer: Buffer, start: number, end: number, keepAlive: boolean): void {
    if (!this.#busy) {
      this.#drop("malformed")
      return
    }
    this.#busy = false
    if (!keepAlive) this.#discard()
    this.#settle(this, this.#judge(status, buffer, start, end))
  }

  #judge(status: number, buffer: Buffer, start: number, end: number): string | undefined {
    const { statuses, check, judge } = this.#traffic
    if (judge !== undefined) return judge({ status, body: buffer.subarray(start, end) }, this.#index)
    const right =
      statuses === undefined ? (status >= 200 && status < 300) || status === 304 : statuses.includes(status)
    if (!right) return `status ${status}`
    if (check === undefined) return undefined
    return check({ status, body: buffer.subarray(start, end) }, this.#index) ? undefined : "body"
  }

  #discard(): void {
    const socket = this.#socket
    this.#socket = undefined
    this.#connected = false
    socket?.destroy()
  }

  #drop(kind: string): void {
    this.#discard()
    this.#waiting = undefined
    if (!this.#busy || this.#closed) return
    // The error is reported after a pause, because the lane then tries again immediately. Without the pause, refused
    // connections would cause a busy loop.
    this.#failure = setTimeout(() => {
      this.#failure = undefined
      this.#busy = false
      this.#settle(this, kind)
    }, reconnectAfterMs)
  }
}
