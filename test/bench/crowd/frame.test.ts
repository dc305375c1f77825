import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  encodeClientFrame,
  encodeText,
  MalformedFrame,
  readServerFrames,
} from "../../../bench/crowd/frame.ts"

function serverFrame(opcode: number, payload: Buffer): Buffer {
  const size = payload.length
  const head =
    size < 126
      ? Buffer.from([0x80 | opcode, size])
      : size < 65_536
        ? Buffer.from([0x80 | opcode, 126, size >> 8, size & 255])
        : Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0, 0, size >> 16, (size >> 8) & 255, size & 255])
  return Buffer.concat([head, payload])
}

const sizes = fc.oneof(fc.nat(200), fc.constantFrom(125, 126, 65_535, 65_536))

describe("WebSocket frames", () => {
  it("from a client are masked, and contain the original text after unmasking", () => {
    const frame = encodeText("Hello")
    expect([...frame.subarray(0, 2)]).toEqual([0x81, 0x85])
    expect(frame.includes("Hello")).toBe(false)
    const unmasked = frame.subarray(6).map((byte, i) => byte ^ frame[2 + (i % 4)]!)
    expect(Buffer.from(unmasked).toString()).toBe("Hello")
  })

  it("have a header of the correct size for every payload length", () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const frame = encodeClientFrame(2, Buffer.alloc(size))
        const expected = size < 126 ? 6 : size < 65_536 ? 8 : 14
        expect(frame.length).toBe(expected + size)
      }),
      { numRuns: 30 },
    )
  })

  it("are read only when they are complete, even if they arrive in two parts", () => {
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 4 }), fc.nat(), (all, at) => {
        const frames = all.map((size, i) => serverFrame(1, Buffer.alloc(size, i)))
        const transport = Buffer.concat(frames)
        const cut = at % (transport.length + 1)
        const seen: number[] = []
        const used = readServerFrames(transport, cut, (_, payload) => seen.push(payload.length))
        readServerFrames(transport.subarray(used), transport.length - used, (_, payload) =>
          seen.push(payload.length),
        )
        expect(seen).toEqual(all)
      }),
      { numRuns: 50 },
    )
  })

  it("from a server are rejected if they are fragmented, compressed, masked or too large", () => {
    const bad = [
      [0x01, 0],
      [0xc1, 0],
      [0x81, 0x80, 0, 0, 0, 0],
      [0x81, 127, 0, 0, 0, 1, 0, 0, 0, 0],
    ]
    for (const bytes of bad) {
      expect(() => readServerFrames(Buffer.from(bytes), bytes.length, () => {})).toThrow(MalformedFrame)
    }
  })
})
