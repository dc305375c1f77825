/** The rows of each table of the smaller database. */
export const few = 1_000
const targetRatio = 1.5
/** A smaller difference is noise of the machine. It says nothing about pages that are made from memory. */
const noiseMs = 0.3

/** One request, and its median latency with few and with many rows. */
export interface MeasuredRead {
  readonly name: string
  readonly fewMs: number
  readonly manyMs: number
}

const ratioOf = ({ fewMs, manyMs }: MeasuredRead): number => manyMs / fewMs

/** Whether the read costs more than the target allows. */
const isTooSlow = (measured: MeasuredRead): boolean =>
  ratioOf(measured) > targetRatio && measured.manyMs - measured.fewMs > noiseMs

const digits = (ms: number): string => (ms < 10 ? ms.toFixed(2) : String(Math.round(ms)))

/** Returns the reads as a Markdown table, the worst ratio first, and a summary. */
export const listsTable = (measured: readonly MeasuredRead[], many: number) => {
  const sorted = measured.toSorted((a, b) => ratioOf(b) - ratioOf(a))
  const tooSlow = sorted.filter(isTooSlow)
  const columns = ["request", `${few} rows, ms`, `${many} rows, ms`, "ratio", ""]
  return [
    `| ${columns.join(" | ")} |`,
    `|${columns.map(() => " --- ").join("|")}|`,
    ...sorted.map((one) => {
      const cells = [one.name, digits(one.fewMs), digits(one.manyMs), ratioOf(one).toFixed(2)]
      return `| ${[...cells, isTooSlow(one) ? "✗" : "✓"].join(" | ")} |`
    }),
    "",
    `${sorted.length - tooSlow.length} of ${sorted.length} requests are within the target of ${targetRatio}. Worst: ${sorted[0]?.name}.`,
  ].join("\n")
}
