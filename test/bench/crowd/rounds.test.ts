import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Rounds } from "../../../bench/crowd/rounds.ts"

describe("the rounds of a fan-out measurement", () => {
  it("are identified by counting the frames on each socket, and each round reports its last delivery", () => {
    const shape = fc.record({
      sockets: fc.integer({ min: 1, max: 12 }),
      channels: fc.integer({ min: 1, max: 12 }),
    })
    fc.assert(
      fc.property(
        shape.filter(({ sockets, channels }) => channels <= sockets),
        fc.integer({ min: 1, max: 20 }),
        ({ sockets, channels }, count) => {
          const rounds = new Rounds(sockets, channels)
          for (let i = 0; i < count; i++) expect(rounds.begin()).toBe(i)
          const finished: number[] = []
          for (let round = 0; round < count; round++) {
            for (let socket = round % channels; socket < sockets; socket += channels) {
              const delivered = rounds.deliver(socket)
              expect(delivered?.round).toBe(round)
              if (delivered?.isLast) finished.push(round)
            }
          }
          expect(finished).toEqual(Array.from({ length: count }, (_, i) => i))
        },
      ),
    )
  })

  it("ignore a frame that arrives before any round has begun", () => {
    expect(new Rounds(2, 1).deliver(0)).toBeUndefined()
  })

  it("are identified correctly after a lost frame and a resync", () => {
    const rounds = new Rounds(3, 1)
    rounds.begin()
    rounds.deliver(0)
    rounds.resync()
    const next = rounds.begin()
    expect(rounds.deliver(0)).toEqual({ round: next, isLast: false })
    expect(rounds.deliver(1)).toEqual({ round: next, isLast: false })
    expect(rounds.deliver(2)).toEqual({ round: next, isLast: true })
  })
})
