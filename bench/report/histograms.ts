import { decodeFromCompressedBase64, type Histogram } from "hdr-histogram-js"
import type { Run } from "../load/run.ts"
import { newHistogram } from "../load/tally.ts"
import type { Results } from "./results.ts"
import { loadsOf } from "./table.ts"

const ticksPerHalfDistance = 5
const microsPerMs = 1000

/** The latencies of one side of a scenario at one load, in milliseconds. */
export interface Distribution {
  /** The name of the files, without extension. */
  readonly name: string
  /** The percentile distribution in the text format of HdrHistogram, which its plotters read. */
  readonly hgrm: string
  /** The same distribution as comma-separated values. */
  readonly csv: string
}

/** Returns the latencies of each scenario, side and load. The runs of the same load are added up. */
export function distributionsOf(results: Results): Distribution[] {
  return results.scenarios.flatMap(({ name, sides }) =>
    sides.flatMap((side) =>
      loadsOf(side).flatMap((runs) => {
        const sum = sumOf(runs)
        if (sum === undefined) return []
        const hgrm = sum.outputPercentileDistribution(ticksPerHalfDistance, microsPerMs)
        return { name: [name, side.name, loadName(runs)].map(fileName).join("."), hgrm, csv: csvOf(hgrm) }
      }),
    ),
  )
}

function sumOf(runs: readonly Run[]): Histogram | undefined {
  const encoded = runs.flatMap(({ latency }) => latency.histogram ?? [])
  if (encoded.length === 0) return undefined
  const sum = newHistogram()
  for (const text of encoded) sum.add(decodeFromCompressedBase64(text))
  return sum
}

/** Returns the lines of a percentile distribution as comma-separated values. Its last line has no fourth column. */
const csvOf = (hgrm: string): string =>
  [
    '"Value","Percentile","TotalCount","1/(1-Percentile)"',
    ...hgrm
      .split("\n")
      .filter((line) => /^ *\d/.test(line))
      .map((line) => line.trim().split(/ +/))
      .map((cells) => (cells.length === 3 ? [...cells, "Infinity"] : cells).join(",")),
    "",
  ].join("\n")

const loadName = (runs: readonly Run[]): string => {
  const offered = runs[0]?.offeredPerSecond
  return offered === undefined ? "peak" : `${offered} per second`
}

const fileName = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
