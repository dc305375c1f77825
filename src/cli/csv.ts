import { createReadStream } from "node:fs"

export interface CsvRow {
  /** The number of the line in the file on which the row begins, counted from 1. */
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

export class CsvError extends Error {}

const maxRowChars = 2_000_000

/**
 * Reads the rows of a CSV file in UTF-8 (RFC 4180): comma, cells in double quotes may contain commas, line breaks and
 * doubled quotes. Lines end with LF or CRLF. Empty lines are skipped. The file is read in parts, so its size does not matter.
 */
export async function* readCsv(file: string): AsyncGenerator<CsvRow> {
  let cells: Array<string> = []
  let cell = ""
  let chars = 0
  let state: "start" | "plain" | "quoted" | "closed" = "start"
  let [line, began, isFirst] = [1, 1, true]
  const endCell = () => {
    cells.push(cell)
    cell = ""
    state = "start"
  }
  const endRow = (): CsvRow | undefined => {
    const isEmpty = cells.length === 0 && cell === "" && state === "start"
    endCell()
    const row = { line: began, cells }
    cells = []
    chars = 0
    return isEmpty ? undefined : row
  }
  for await (const part of createReadStream(file, "utf8") as AsyncIterable<string>) {
    const text = isFirst && part.startsWith("\uFEFF") ? part.slice(1) : part
    isFirst = false
    for (const char of text) {
      if (++chars > maxRowChars) throw new CsvError(`line ${began}: the row is too long. Is a quote missing?`)
      if (state === "quoted") {
        if (char === '"') state = "closed"
        else cell += char
      } else if (char === '"' && state === "closed") {
        cell += char
        state = "quoted"
      } else if (char === '"' && state === "start") state = "quoted"
      else if (char === ",") endCell()
      else if (char === "\n") {
        if (cell.endsWith("\r")) cell = cell.slice(0, -1)
        const row = endRow()
        if (row !== undefined) yield row
        began = line + 1
      } else if (char === "\r" && state === "closed") continue
      else if (state === "closed") throw new CsvError(`line ${line}: unexpected text after a closing quote`)
      else {
        cell += char
        if (char !== "\r") state = "plain"
      }
      if (char === "\n") line++
    }
  }
  if (state === "quoted") throw new CsvError(`line ${began}: a quote is not closed`)
  const row = endRow()
  if (row !== undefined) yield row
}

/** Formats a row of a CSV file. */
export const csvRow = (cells: ReadonlyArray<string | number>): string =>
  `${cells.map((cell) => (/[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell)).join(",")}\n`
