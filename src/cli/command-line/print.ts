type Row = Readonly<Record<string, unknown>>

const cell = (value: unknown): string =>
  value === null || value === undefined
    ? ""
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value)

const table = (rows: ReadonlyArray<Row>): string => {
  const names = [...new Set(rows.flatMap(Object.keys))]
  const lines = [names, ...rows.map((row) => names.map((name) => cell(row[name])))]
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)))
  return lines
    .map((line) =>
      line
        .map((text, i) => text.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

/**
 * Formats a value as JSON if `asJson` is true. Otherwise formats a list as a table, and an object as one line per
 * member. A text is printed as it is.
 */
export const printed = (value: unknown, asJson: boolean): string => {
  if (asJson) return JSON.stringify(value, null, 2)
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : table(value as ReadonlyArray<Row>)
  const members = Object.entries((value ?? {}) as Row)
  const width = Math.max(0, ...members.map(([name]) => name.length))
  return members.map(([name, member]) => `${name.padEnd(width)}  ${cell(member)}`).join("\n")
}
