import { describe, expect, it } from "vitest"
import { ReplayBuffer } from "../../src/live/replay-buffer.ts"

const frame = (bytes: number) => new Uint8Array(bytes)

describe("the replay buffer", () => {
  it("drops the oldest frame of all channels when it exceeds its budget", () => {
    const recent = new ReplayBuffer(100)
    recent.add("a", 1, frame(40))
    recent.add("b", 7, frame(40))
    recent.add("a", 2, frame(40))
    expect(recent.find("a", 1)).toBeUndefined()
    expect(recent.find("b", 7)).toHaveLength(40)
    expect(recent.find("a", 2)).toHaveLength(40)
    expect(recent.bytes).toBe(80)
  })

  it("does not return old frames of a forgotten channel after the channel is added again", () => {
    const recent = new ReplayBuffer(100)
    recent.add("a", 1, frame(60))
    recent.forget("a")
    expect(recent.bytes).toBe(0)
    recent.add("a", 9, frame(60))
    expect(recent.find("a", 1)).toBeUndefined()
    recent.add("b", 1, frame(60))
    expect(recent.find("a", 9)).toBeUndefined()
    expect(recent.find("b", 1)).toBeDefined()
    expect(recent.bytes).toBe(60)
  })

  it("does not store a frame larger than its budget", () => {
    const recent = new ReplayBuffer(10)
    recent.add("a", 1, frame(11))
    expect(recent.find("a", 1)).toBeUndefined()
    expect(recent.bytes).toBe(0)
  })

  it("stays within its budget while frames of 500 channels are added and forgotten", () => {
    const recent = new ReplayBuffer(10_000)
    for (let n = 0; n < 50_000; n++) {
      recent.add(`c${n % 500}`, n, frame(50))
      if (n % 3 === 0) recent.forget(`c${(n * 7) % 500}`)
    }
    expect(recent.bytes).toBeLessThanOrEqual(10_000)
    expect(recent.find(`c${49_999 % 500}`, 49_999)).toBeDefined()
  })
})
