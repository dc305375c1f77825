import { createHash, randomBytes } from "node:crypto"
import { connect as connectPlain, type Socket } from "node:net"
import { connect as connectSecure } from "node:tls"
import { encodeFrame, type FrameHead, opcodes, readFrame } from "./socket-frame.ts"
import type { SocketLike } from "./socket-like.ts"

const connectingMs = 10_000
const handshakeBytes = 16 * 1024
const tooLargeCode = 1009
const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/**
 * A WebSocket for Node 20, which has none of its own. Newer versions and browsers do: there, leave it out. Text frames
 * only, no compression: what the live protocol needs.
 */
export class NodeSocket implements SocketLike {
  onopen: SocketLike["onopen"] = null
  onmessage: SocketLike["onmessage"] = null
  onclose: SocketLike["onclose"] = null
  onerror: SocketLike["onerror"] = null
  /** The connection underneath; pausing it makes this a slow reader. */
  readonly socket: Socket
  readonly #accept: string
  #phase: "connecting" | "open" | "closing" | "closed" = "connecting"
  #rest: Buffer = Buffer.alloc(0)
  #fragments: Array<Buffer> = []
  #closing = { code: 1006, reason: "" }

  constructor(address: string, options: { readonly headers?: Readonly<Record<string, string>> } = {}) {
    const url = new URL(address)
    const secure = url.protocol === "wss:" || url.protocol === "https:"
    const port = Number(url.port === "" ? (secure ? 443 : 80) : url.port)
    const host = url.hostname.replace(/^\[|\]$/g, "")
    const key = randomBytes(16).toString("base64")
    this.#accept = createHash("sha1").update(`${key}${magic}`).digest("base64")
    const headers: Record<string, string> = {
      Host: url.host,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
      ...options.headers,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.socket = secure ? connectSecure({ host, port, servername: host }) : connectPlain({ host, port })
    this.socket.setNoDelay(true)
    this.socket.setTimeout(connectingMs, () => this.socket.destroy())
    this.socket.once(secure ? "secureConnect" : "connect", () =>
      this.socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`),
    )
    this.socket.on("data", (chunk: Buffer) => this.#received(chunk))
    this.socket.on("error", () => this.onerror?.(undefined as never))
    this.socket.on("close", () => this.#closed())
  }

  get readyState(): number {
    return { connecting: 0, open: 1, closing: 2, closed: 3 }[this.#phase]
  }

  send(text: string): void {
    if (this.#phase === "open") this.socket.write(encodeFrame(opcodes.text, Buffer.from(text)))
  }

  close(code = 1000, reason = ""): void {
    if (this.#phase === "connecting") this.socket.destroy()
    if (this.#phase !== "open") return
    this.#phase = "closing"
    this.#sayClose(code, reason)
    // A server that does not answer must not keep this open.
    this.socket.setTimeout(1000, () => this.socket.destroy())
  }

  #sayClose(code: number, reason: string): void {
    const payload = Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)])
    this.socket.end(encodeFrame(opcodes.close, payload))
  }

  #received(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    if (this.#phase === "connecting" && !this.#readHandshake()) return
    for (let frame = readFrame(this.#rest); frame !== undefined; frame = readFrame(this.#rest)) {
      if (frame === "too_large") {
        this.#giveUp(tooLargeCode)
        return
      }
      this.#rest = this.#rest.subarray(frame.bytes)
      this.#handle(frame)
    }
  }

  /** What follows cannot be read. */
  #giveUp(code: number): void {
    this.#closing = { code, reason: "" }
    if (this.#phase === "open") this.#sayClose(code, "")
    this.#phase = "closing"
    this.socket.destroySoon()
  }

  #readHandshake(): boolean {
    const end = this.#rest.indexOf("\r\n\r\n")
    if (end === -1) {
      if (this.#rest.length > handshakeBytes) this.socket.destroy()
      return false
    }
    const head = this.#rest.toString("latin1", 0, end)
    const accept = /^sec-websocket-accept: *(\S+)/im.exec(head)?.[1]
    if (!head.startsWith("HTTP/1.1 101") || accept !== this.#accept) {
      this.#closing = { code: 1006, reason: head.split("\r\n", 1)[0] ?? "" }
      this.socket.destroy()
      return false
    }
    this.#rest = this.#rest.subarray(end + 4)
    this.socket.setTimeout(0)
    this.#phase = "open"
    this.onopen?.(undefined as never)
    return true
  }

  #handle({ isLast, opcode, payload }: FrameHead): void {
    switch (opcode) {
      case opcodes.text:
      case opcodes.continuation: {
        this.#fragments.push(payload)
        if (!isLast) return
        const data = Buffer.concat(this.#fragments).toString()
        this.#fragments = []
        if (this.#phase === "open") this.onmessage?.({ data })
        return
      }
      case opcodes.ping:
        if (this.#phase === "open") this.socket.write(encodeFrame(opcodes.pong, payload))
        return
      case opcodes.close: {
        const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1005
        this.#closing = { code, reason: payload.subarray(2).toString() }
        if (this.#phase === "open") this.#sayClose(code === 1005 ? 1000 : code, "")
        this.#phase = "closing"
        return
      }
    }
  }

  #closed(): void {
    if (this.#phase === "closed") return
    this.#phase = "closed"
    this.onclose?.(this.#closing)
  }
}
