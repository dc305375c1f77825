import { describe, expect, it } from "vitest"
import { append, noBody } from "../../src/http/request/body.ts"

describe("a body that arrives byte by byte", () => {
  it("is complete, and uses at most 1 + log2(length) buffers", () => {
    const sent = Buffer.from("0123456789".repeat(10_000))
    const rooms = new Set<ArrayBuffer>()
    let body = noBody
    for (const byte of sent) {
      body = append(body, Uint8Array.of(byte).buffer)
      rooms.add(body.buffer)
    }
    expect(Buffer.compare(body, sent)).toBe(0)
    expect(rooms.size).toBeLessThanOrEqual(1 + Math.log2(sent.length))
  })
  it("does not change when the server library reuses the memory of a chunk", () => {
    const chunk = Uint8Array.of(1, 2)
    const body = append(append(noBody, chunk.buffer), chunk.buffer)
    chunk.fill(9)
    expect([...body]).toEqual([1, 2, 1, 2])
  })
})
