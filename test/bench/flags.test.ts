import { describe, expect, it } from "vitest"
import { UsageError } from "../../bench/failure.ts"
import { readFlags, usage } from "../../bench/flags.ts"
import { scenarios } from "../../bench/scenarios/registry.ts"
import { estimateSeconds } from "../../bench/suite.ts"

const read = (...args: string[]) => {
  const flags = readFlags(args, scenarios)
  if (typeof flags === "string") throw new Error(`expected flags, got ${flags}`)
  return flags
}

describe("the flags of the bench", () => {
  it("are all optional", () => {
    const flags = read()
    expect(flags).toMatchObject({ runs: 3, out: "bench/results", url: undefined, ratePerSecond: undefined })
    expect(flags.scenarios.map(({ name }) => name)).toEqual(
      scenarios.filter(({ onRequest }) => !onRequest).map(({ name }) => name),
    )
  })

  it("override the defaults and the settings of --quick", () => {
    const args = [
      "--quick",
      "--duration",
      "0.2",
      "--connections",
      "8",
      "--rate",
      "500",
      "--scenario",
      "baseline-publish",
    ]
    expect(read(...args)).toMatchObject({ runs: 1, durationSeconds: 0.2, connections: 8, ratePerSecond: 500 })
    expect(read(...args).scenarios.map(({ name }) => name)).toEqual(["baseline-publish"])
  })

  it("measure all scenarios in less than ten minutes if none is given", () => {
    const flags = read()
    const seconds = flags.scenarios.reduce((sum, scenario) => sum + estimateSeconds(scenario, flags), 0)
    expect(seconds).toBeLessThan(600)
  })

  it("measure longer and over fresh starts if the figures are for publication", () => {
    expect(read()).toMatchObject({ method: "short" })
    expect(read("--quick")).toMatchObject({ method: "smoke" })
    expect(read("--publish")).toMatchObject({ method: "published", durationSeconds: 20, runs: 5 })
    expect(read("--publish", "--runs", "7", "--duration", "30")).toMatchObject({
      runs: 7,
      durationSeconds: 30,
    })
  })

  it("select only scenarios that measure the service if --url is given", () => {
    const flags = read("--url", "https://directory.example/base")
    expect(flags.url?.hostname).toBe("directory.example")
    expect(flags.scenarios.every(({ subject }) => subject.kind === "server" && subject.isService)).toBe(true)
  })

  it.each([
    [["--rate", "fast"], '--rate must be a whole number from 1 to 1000000, not "fast"'],
    [["--rate", ""], '--rate must be a whole number from 1 to 1000000, not ""'],
    [["--connections", "0"], '--connections must be a whole number from 1 to 50000, not "0"'],
    [["--runs", "1.5"], '--runs must be a whole number from 1 to 100, not "1.5"'],
    [["--duration", "-1"], /^Option '--duration' argument is ambiguous$/],
    [["--duration=-1"], '--duration must be a number from 0.1 to 600, not "-1"'],
    [["--url", "localhost:3001"], '--url must be an http or https address, not "localhost:3001"'],
    [["--scenario", "nope"], /^--scenario must be one of baseline-only, .*, not "nope"$/],
    [["--scenario", "baseline-only", "--url", "http://localhost:1"], /cannot be used with --url$/],
    [["--publish", "--runs", "4"], '--runs must be a whole number from 5 to 100, not "4"'],
    [["--publish", "--duration", "19"], '--duration must be a number from 20 to 600, not "19"'],
    [["--publish", "--quick"], "--publish cannot be combined with --quick"],
    [["--publish", "--url", "http://localhost:1"], /cannot be used with --url$/],
    [["--speed", "9"], "Unknown option '--speed'"],
    [["lookup"], "Unexpected argument 'lookup'"],
  ])("are rejected with a message of one line if they are invalid: %j", (args, message) => {
    expect(() => read(...args)).toThrow(UsageError)
    expect(() => read(...args)).toThrow(message)
    try {
      read(...args)
    } catch (error) {
      expect(String(error)).not.toContain("\n")
    }
  })

  it("include --help, which lists every scenario", () => {
    expect(readFlags(["--help"], scenarios)).toBe("help")
    const text = usage(scenarios)
    for (const { name, summary } of scenarios)
      expect(text).toMatch(new RegExp(`^  ${name}[ *]+${summary.slice(0, 10)}`, "m"))
  })
})
