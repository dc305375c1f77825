import type { Spread } from "./spread.ts"

export function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`
  return [line(header), line(header.map(() => "---")), ...rows.map(line)]
}

/** Returns the median, and in brackets the lowest and the highest value if they differ. */
export const withSpread = ({ max, median, min }: Spread, digits: number): string =>
  min === max
    ? fixed(median, digits)
    : `${fixed(median, digits)} (${fixed(min, digits)}–${fixed(max, digits)})`

export const whole = (value: number): string => fixed(value, 0)
export const fixed = (value: number, digits: number): string =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
