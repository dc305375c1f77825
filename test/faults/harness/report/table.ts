/** A Markdown table with aligned columns. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = head.map((title, place) => Math.max(title.length, ...rows.map((row) => row[place]!.length)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, place) => cell.padEnd(widths[place]!)).join(" | ")} |`
  return [line(head), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...rows.map(line)].join(
    "\n",
  )
}
