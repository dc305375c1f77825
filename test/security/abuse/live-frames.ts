import { randomBytes } from "node:crypto"
import type { Socket } from "node:net"
import { openSocket } from "../../fixtures/raw-http.ts"

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface FrameFacts {
  readonly opcode: number
  readonly payload?: Uint8Array | string
  /** Whether this is the last frame of its message. The default is true. */
  readonly fin?: boolean
  /** The three reserved bits, which are 0 without an extension. */
  readonly reserved?: number
  /** Clients must mask their frames. The default is true. */
  readonly masked?: boolean
  /** The length that the frame declares, if it is not that of the payload. */
  readonly length?: bigint
}

/** Writes a WebSocket frame, also one that RFC 6455 forbids. */
export const frame = ({
  fin = true,
  length,
  masked = true,
  opcode,
  payload = "",
  reserved = 0,
}: FrameFacts) => {
  const content = Buffer.from(payload as string)
  const size = length ?? BigInt(content.length)
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode
  const maskBit = masked ? 0x80 : 0
  const extended = Buffer.alloc(size < 126n ? 0 : size < 65_536n ? 2 : 8)
  if (extended.length === 2) extended.writeUInt16BE(Number(size))
  if (extended.length === 8) extended.writeBigUInt64BE(size)
  const short = extended.length === 0 ? Number(size) : extended.length === 2 ? 126 : 127
  const mask = masked ? randomBytes(4) : Buffer.alloc(0)
  const body = masked ? content.map((byte, at) => byte ^ mask[at % 4]!) : content
  return Buffer.concat([Buffer.from([first, maskBit | short]), extended, mask, body])
}

export interface RawLive {
  readonly socket: Socket
  /** Everything that the server has sent: the frames with their headers, each byte as one character. */
  readonly received: () => string
  readonly isClosed: () => boolean
  send(...frames: ReadonlyArray<FrameFacts>): void
}

const upgrade = () =>
  [
    "GET /live HTTP/1.1",
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
    "\r\n",
  ].join("\r\n")

/** Opens a live socket without a WebSocket library, so that it can send frames that a library refuses to send. */
export const openRawLive = async (port: number): Promise<RawLive> => {
  const socket = await openSocket(port)
  let received = ""
  let isClosed = false
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text
  })
  socket.on("error", () => {})
  for (const event of ["end", "close"])
    socket.once(event, () => {
      isClosed = true
    })
  socket.write(upgrade())
  const isOpen = () => received.includes("\r\n\r\n")
  while (!isOpen() && !isClosed) await new Promise((resolve) => setTimeout(resolve, 5))
  return {
    socket,
    received: () => received,
    isClosed: () => isClosed,
    send: (...frames) => void socket.write(Buffer.concat(frames.map(frame))),
  }
}
