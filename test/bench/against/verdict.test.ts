import { describe, expect, it } from "vitest"
import { judge } from "../../../bench/against/verdict.ts"

const around = (centre: number, spread: number, pairs: number) =>
  Array.from({ length: pairs }, (_, pair) => centre * (1 + (pair % 2 === 0 ? spread : -spread)))

describe("the verdict of a comparison with another commit", () => {
  it("is `slower beyond noise` when all pairs of runs show a loss, whether higher or lower values are better", () => {
    expect(judge(around(0.9, 0.01, 8), "higher")?.verdict).toBe("slower beyond noise")
    expect(judge(around(1.1, 0.01, 8), "lower")?.verdict).toBe("slower beyond noise")
  })

  it("is `faster beyond noise` when all pairs of runs show a gain", () => {
    expect(judge(around(1.1, 0.01, 8), "higher")?.verdict).toBe("faster beyond noise")
    expect(judge(around(0.9, 0.01, 8), "lower")?.verdict).toBe("faster beyond noise")
  })

  it("is `no difference` when the pairs vary more than the commits differ", () => {
    expect(judge(around(0.95, 0.2, 8), "higher")?.verdict).toBe("no difference beyond noise")
  })

  it("is `no difference` for a loss below two percent", () => {
    expect(judge(around(0.99, 0.0001, 8), "higher")?.verdict).toBe("no difference beyond noise")
  })

  it("is `no difference` when only one of eight pairs shows a large loss", () => {
    expect(judge([1, 1.01, 0.99, 0.4, 1, 1.01, 0.99, 1], "higher")?.verdict).toBe(
      "no difference beyond noise",
    )
  })

  it("is `no difference` with three pairs, and `slower beyond noise` with twenty pairs that vary by the same amount", () => {
    expect(judge(around(0.93, 0.02, 3), "higher")?.verdict).toBe("no difference beyond noise")
    expect(judge(around(0.93, 0.02, 20), "higher")?.verdict).toBe("slower beyond noise")
  })

  it("is `slower beyond noise` in fewer than 10 of 2,000 random comparisons of equal commits", () => {
    // The random numbers are a fixed sequence, so that the test cannot fail by chance.
    let state = 12_345
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return (state + 1) / 2 ** 32
    }
    const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
    const verdicts = Array.from({ length: 2_000 }, () =>
      judge(
        Array.from({ length: 8 }, () => Math.exp(0.05 * normal())),
        "higher",
      ),
    )
    const slower = verdicts.filter((judged) => judged?.verdict === "slower beyond noise").length
    expect(slower).toBeLessThan(10)
  })

  it("is undefined with fewer than three usable pairs", () => {
    expect(judge([0.5, 0.5], "higher")).toBeUndefined()
    expect(judge([0.5, 0.5, Number.NaN, 0, Number.POSITIVE_INFINITY], "higher")).toBeUndefined()
  })

  it("contains the geometric mean, its confidence interval and the range of the pairs", () => {
    const judged = judge([0.5, 1, 2], "higher")
    expect(judged?.ratio).toBeCloseTo(1)
    expect(judged).toMatchObject({ min: 0.5, max: 2 })
    expect(judged?.low).toBeLessThan(0.5)
    expect(judged?.high).toBeGreaterThan(2)
  })
})
