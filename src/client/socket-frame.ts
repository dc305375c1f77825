import { randomBytes } from "node:crypto"

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** More than the service ever sends at once. */
const payloadBytes = 64 * 1024 * 1024

export interface FrameHead {
  readonly opcode: number
  readonly isLast: boolean
  readonly payload: Buffer
  /** What the whole frame took. */
  readonly bytes: number
}

/** A frame as a client must send it: masked. */
export const encodeFrame = (opcode: number, payload: Buffer): Buffer => {
  const size = payload.length
  const long = size < 126 ? 0 : size < 65_536 ? 2 : 8
  const maskAt = 2 + long
  const frame = Buffer.allocUnsafe(maskAt + 4 + size)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (long === 0 ? size : long === 2 ? 126 : 127)
  if (long === 2) frame.writeUInt16BE(size, 2)
  if (long === 8) frame.writeBigUInt64BE(BigInt(size), 2)
  const mask = randomBytes(4)
  mask.copy(frame, maskAt)
  for (let at = 0; at < size; at++) frame[maskAt + 4 + at] = payload[at]! ^ mask[at & 3]!
  return frame
}

/** The frame at the start of the buffer; undefined when it is not all there yet. */
export const readFrame = (buffer: Buffer): FrameHead | "too_large" | undefined => {
  if (buffer.length < 2) return undefined
  const short = buffer[1]! & 0x7f
  const long = short === 126 ? 2 : short === 127 ? 8 : 0
  if (buffer.length < 2 + long) return undefined
  const size = long === 0 ? short : long === 2 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2))
  if (size > payloadBytes) return "too_large"
  const bytes = 2 + long + size
  if (buffer.length < bytes) return undefined
  return {
    opcode: buffer[0]! & 0x0f,
    isLast: (buffer[0]! & 0x80) !== 0,
    payload: buffer.subarray(2 + long, bytes),
    bytes,
  }
}
