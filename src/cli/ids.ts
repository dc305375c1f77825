import { createWriteStream, existsSync, rmSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { InvalidRequest, isProblem, type Problem } from "../../schema/errors.ts"
import {
  checkImportLine,
  type ImportCells,
  type ImportColumn,
  importColumns,
} from "../directory/id-import-line.ts"
import { IdImports, type IdToImport, type ImportOutcome } from "../directory/id-import-store.ts"
import { type Command, optionOf } from "./command-line/command.ts"
import { type CsvRow, csvRow, readCsv } from "./csv.ts"

/** The lines of one statement. More lines per statement are not faster, and lock the ids for longer. */
const batchLines = 500
const progressMs = 2000
/** A database that restarts is waited for. Then the command ends, and can be run again. */
const retries = Schedule.max([Schedule.exponential("200 millis"), Schedule.recurs(8)])

const reasons: Readonly<Record<Exclude<ImportOutcome["outcome"], "imported" | "present">, string>> = {
  taken: "The id is registered for another owner or with another source, or is reserved.",
  no_user: "No active user has this user_id or email.",
  unproven: "The user has not confirmed this email address yet.",
  no_pubkey: "This key does not belong to the user.",
}

const textOf = (problem: Problem): string => {
  const issues = Object.values(problem.fields ?? {}).flatMap((found) => found.map(({ message }) => message))
  return issues.length > 0 ? issues.join(" ") : problem.message
}

const asProblem = (error: unknown): Problem =>
  isProblem(error)
    ? error
    : new InvalidRequest({ error: error instanceof Error ? error.message : String(error) })

const checkHeader = (row: CsvRow | undefined): ReadonlyArray<ImportColumn> => {
  const names = (row?.cells ?? []).map((name) => name.trim())
  const unknown = names.find((name) => !importColumns.includes(name as ImportColumn))
  const known = `Use the columns ${importColumns.join(", ")}.`
  if (unknown !== undefined) throw new Error(`Unknown column ${JSON.stringify(unknown)} in line 1. ${known}`)
  if (new Set(names).size < names.length) throw new Error("A column occurs twice in line 1.")
  if (!names.includes("emoji_id") || !(names.includes("email") || names.includes("user_id")))
    throw new Error(`Line 1 must name the columns emoji_id, and email or user_id. ${known}`)
  return names as ReadonlyArray<ImportColumn>
}

const cellsOf = ({ cells }: CsvRow, columns: ReadonlyArray<ImportColumn>): ImportCells =>
  Object.fromEntries(
    columns.flatMap((name, i) => {
      const cell = (cells[i] ?? "").trim()
      return cell === "" ? [] : [[name, cell]]
    }),
  )

/** Writes refused lines to a file, which is created with the first of them. */
const errorFile = (path: string) => {
  rmSync(path, { force: true })
  let stream: ReturnType<typeof createWriteStream> | undefined
  return {
    add: (line: number, emojiId: string, code: string, error: string) => {
      if (stream === undefined) {
        stream = createWriteStream(path)
        stream.write(csvRow(["line", "emoji_id", "code", "error"]))
      }
      stream.write(csvRow([line, emojiId, code, error]))
    },
    end: () => new Promise<void>((done) => (stream === undefined ? done() : stream.end(done))),
  }
}

interface Counts {
  lines: number
  imported: number
  present: number
  refused: number
}

const progress = (counts: Counts, since: number): string => {
  const rate = Math.round(counts.lines / Math.max(0.001, (performance.now() - since) / 1000))
  const { imported, lines, present, refused } = counts
  return `${lines} lines: ${imported} imported, ${present} present, ${refused} refused (${rate} lines/s)\n`
}

const importFile = Effect.fnUntraced(function* (file: string, errorsPath: string, isDryRun: boolean) {
  const imports = yield* IdImports
  const since = performance.now()
  const counts: Counts = { lines: 0, imported: 0, present: 0, refused: 0 }
  const errors = errorFile(errorsPath)
  const refuse = (line: number, emojiId: string, code: string, error: string) => {
    counts.refused++
    errors.add(line, emojiId, code, error)
  }
  let shownAt = since
  let batch = new Map<string, { readonly id: IdToImport; readonly emojiId: string }>()

  const send = Effect.gen(function* () {
    if (batch.size === 0) return
    const lines = new Map([...batch.values()].map(({ emojiId, id }) => [id.n, emojiId]))
    const ids = [...batch.values()].map(({ id }) => id)
    batch = new Map()
    const run = isDryRun ? imports.judgeBatch(ids) : imports.importBatch(ids)
    for (const { n, outcome } of yield* Effect.retry(run, retries)) {
      if (outcome === "imported" || outcome === "present") counts[outcome]++
      else refuse(n, lines.get(n) ?? "", outcome, reasons[outcome])
    }
    if (performance.now() - shownAt < progressMs) return
    shownAt = performance.now()
    process.stderr.write(progress(counts, since))
  })

  const rows = readCsv(file)
  const next = Effect.tryPromise({
    try: () => rows.next().then(({ done, value }) => (done ? undefined : (value as CsvRow))),
    catch: asProblem,
  })
  const header = yield* next
  const columns = yield* Effect.try({ try: () => checkHeader(header), catch: asProblem })
  for (let row = yield* next; row !== undefined; row = yield* next) {
    counts.lines++
    const cells = cellsOf(row, columns)
    const emojiId = cells.emoji_id ?? ""
    const checked =
      row.cells.length === columns.length
        ? yield* Effect.result(checkImportLine(cells))
        : yield* Effect.result(
            Effect.fail(
              new InvalidRequest({ error: `expected ${columns.length} cells, got ${row.cells.length}` }),
            ),
          )
    if (checked._tag === "Failure") {
      refuse(row.line, emojiId, "invalid", textOf(checked.failure))
      continue
    }
    const id = { n: row.line, ...checked.success }
    // A statement imports an id once. The second line of the same id is judged after the first one.
    if (batch.has(id.canonical)) yield* send
    batch.set(id.canonical, { id, emojiId })
    if (batch.size === batchLines) yield* send
  }
  yield* send
  yield* Effect.promise(errors.end)
  if (counts.lines > 0) process.stderr.write(progress(counts, since))
  return { ...counts, dry_run: isDryRun, ...(counts.refused > 0 && { errors: errorsPath }) }
})

const importIds: Command = {
  name: "ids import",
  words: ["file"],
  options: ["errors"],
  flags: ["dry-run"],
  summary:
    "Register the ids of a CSV file. Run it again to resume. Refused lines are written to FILE.errors.csv, or to the file of --errors; then the exit code is 1. --dry-run checks the file and writes nothing to the database",
  run: (input) => {
    const file = input.words[0] ?? ""
    if (!existsSync(file)) return Effect.fail(new InvalidRequest({ error: `File not found: ${file}` }))
    const errorsPath = optionOf(input, "errors") ?? `${file}.errors.csv`
    return importFile(file, errorsPath, input.options["dry-run"] !== undefined)
  },
  isFailure: (result) => (result as Counts).refused > 0,
}

export const idCommands: ReadonlyArray<Command> = [importIds]
