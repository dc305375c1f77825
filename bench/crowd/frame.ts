const payloadLimitBytes = 1024 * 1024

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export class MalformedFrame extends Error {}

/**
 * Encodes a frame of a client with a mask, as RFC 6455 requires. The mask need not be secret here, so all frames use
 * the same mask key.
 */
export function encodeClientFrame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length
  const extra = size < 126 ? 0 : size < 65_536 ? 2 : 8
  const maskAt = 2 + extra
  const frame = Buffer.allocUnsafe(maskAt + 4 + size)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (extra === 0 ? size : extra === 2 ? 126 : 127)
  if (extra === 2) frame.writeUInt16BE(size, 2)
  else if (extra === 8) frame.writeBigUInt64BE(BigInt(size), 2)
  frame.writeUInt32BE(0x5a17c3e9, maskAt)
  for (let i = 0; i < size; i++) frame[maskAt + 4 + i] = payload[i]! ^ frame[maskAt + (i & 3)]!
  return frame
}

export const encodeText = (text: string): Buffer => encodeClientFrame(opcodes.text, Buffer.from(text))

/**
 * Calls `onFrame` for each complete frame at the start of the buffer. Returns the number of bytes that these frames
 * occupy. The payload is a view into the buffer that is valid only during the call. Fragmented, compressed and masked
 * frames are rejected, because the measured servers do not send them.
 */
export function readServerFrames(
  buffer: Buffer,
  end: number,
  onFrame: (opcode: number, payload: Buffer) => void,
): number {
  let at = 0
  while (end - at >= 2) {
    const first = buffer[at]!
    const short = buffer[at + 1]!
    if ((first & 0x80) === 0 || (first & 0x70) !== 0 || (short & 0x80) !== 0) {
      throw new MalformedFrame("fragmented, compressed or masked")
    }
    let payloadAt = at + 2
    let size = short
    if (short === 126) {
      if (end - at < 4) break
      size = buffer.readUInt16BE(at + 2)
      payloadAt = at + 4
    } else if (short === 127) {
      if (end - at < 10) break
      size = Number(buffer.readBigUInt64BE(at + 2))
      payloadAt = at + 10
    }
    if (size > payloadLimitBytes) throw new MalformedFrame("too large")
    const next = payloadAt + size
    if (next > end) break
    onFrame(first & 0x0f, buffer.subarray(payloadAt, next))
    at = next
  }
  return at
}
