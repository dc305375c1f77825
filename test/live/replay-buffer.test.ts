import { describe, expect, it } from "vitest"
import { ReplayBuffer } from "../../src/live/replay-buffer.ts"

const frame = (bytes: number) => new Uint8Array(bytes)

describe("the replay buffer", () => {
  it("drops the oldest frame first, whatever its channel", () => {
    const recent = new ReplayBuffer(100)
    recent.add("a", 1, frame(40))
    recent.add("b", 7, frame(40))
    recent.add("a", 2, frame(40))
    expect(recent.find("a", 1)).toBeUndefined()
    expect(recent.find("b", 7)).toHaveLength(40)
    expect(recent.find("a", 2)).toHaveLength(40)
    expect(recent.bytes).toBe(80)
  })

  it("forgets the frames of a channel, also if the channel is added again", () => {
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

  it("does not store a frame larger than the budget", () => {
    const recent = new ReplayBuffer(10)
    recent.add("a", 1, frame(11))
    expect(recent.find("a", 1)).toBeUndefined()
    expect(recent.bytes).toBe(0)
  })

  it("stays within the budget while thousands of channels are added and removed", () => {
    const recent = new ReplayBuffer(10_000)
    for (let n = 0; n < 50_000; n++) {
      recent.add(`c${n % 500}`, n, frame(50))
      if (n % 3 === 0) recent.forget(`c${(n * 7) % 500}`)
    }
    expect(recent.bytes).toBeLessThanOrEqual(10_000)
    expect(recent.find(`c${49_999 % 500}`, 49_999)).toBeDefined()
  })
})
