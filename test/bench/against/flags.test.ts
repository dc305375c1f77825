import { describe, expect, it } from "vitest"
import { readStartScript } from "../../../bench/against/checkout.ts"
import { comparedScenarios } from "../../../bench/against/scenarios.ts"
import { UsageError } from "../../../bench/failure.ts"
import { readFlags } from "../../../bench/flags.ts"
import { scenarios } from "../../../bench/scenarios/registry.ts"

const read = (...args: string[]) => {
  const flags = readFlags(args, scenarios)
  if (typeof flags === "string") throw new Error(`expected flags, got ${flags}`)
  return flags.against
}

describe("the flags of a comparison with another commit", () => {
  it("are absent if --against is not given", () => {
    expect(read()).toBeUndefined()
  })

  it("have defaults for everything except the commit", () => {
    expect(read("--against", "HEAD~1")).toEqual({
      ref: "HEAD~1",
      scenarios: comparedScenarios,
      pairs: 8,
      seconds: 1.5,
    })
  })

  it("select the scenarios, the number of pairs and the seconds of each run", () => {
    const flags = read(
      "--against",
      "main",
      "--only",
      "cart",
      "--only",
      "lookup",
      "--pairs",
      "5",
      "--seconds",
      "0.5",
    )
    expect(flags?.scenarios.map(({ name }) => name)).toEqual(["cart", "lookup"])
    expect(flags).toMatchObject({ pairs: 5, seconds: 0.5 })
  })

  it.each([
    [["--pairs", "5"], "--pairs needs --against"],
    [["--only", "cart"], "--only needs --against"],
    [["--against", "HEAD", "--pairs", "2"], '--pairs must be a whole number from 3 to 100, not "2"'],
    [["--against", "HEAD", "--seconds", "0"], '--seconds must be a number from 0.1 to 600, not "0"'],
    [["--against", "HEAD", "--only", "nope"], /^--only must be one of lookup, .*, not "nope"$/],
    [["--against", "HEAD", "--scenario", "hello"], "--scenario cannot be used with --against"],
    [["--against", "HEAD", "--quick"], "--quick cannot be used with --against"],
  ])("are rejected if they are invalid: %j", (args, message) => {
    expect(() => read(...args)).toThrow(UsageError)
    expect(() => read(...args)).toThrow(message)
  })

  it("identify each scenario by its name, so no two scenarios have the same name", () => {
    const names = [...scenarios, ...comparedScenarios].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe("the start script of another commit", () => {
  it.each([
    ["node dist/main.js", [], "dist/main.js"],
    ["exec node --max-semi-space-size=32 build/server.mjs", ["--max-semi-space-size=32"], "build/server.mjs"],
    ["", [], "dist/main.js"],
  ])("%j is read as Node's flags %j and the program %s", (script, flags, program) => {
    expect(readStartScript(script)).toEqual({ flags, program })
  })
})
