import { readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { projectRoot } from "../../src/config/project-root.ts"

/** A statement, or a part of one, that the source contains as a template of the database client. */
export interface SqlTemplate {
  /** The file and the line. */
  readonly place: string
  /** The text between the parameters. */
  readonly parts: ReadonlyArray<string>
}

const tags = /\b(?:q|sql|client)(?:<[^`()]*>)?`/g

const normal = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

/** Returns the end of the expression `${…}` that begins at `start`, which is behind the opening brace. */
const endOfExpression = (source: string, start: number): number => {
  let depth = 1
  for (let at = start; ; at++) {
    const char = source[at]
    if (char === "`") at = templateAt(source, at + 1).end - 1
    else if (char === "{") depth++
    else if (char === "}" && --depth === 0) return at + 1
    else if (char === undefined) throw new Error("a template literal does not end")
  }
}

/** Reads the template literal whose text begins at `start`. `end` is behind its closing backtick. */
const templateAt = (source: string, start: number): { parts: ReadonlyArray<string>; end: number } => {
  const parts: Array<string> = []
  let from = start
  for (let at = start; ; at++) {
    if (source[at] === "\\") at++
    else if (source[at] === "`") return { parts: [...parts, source.slice(from, at)], end: at + 1 }
    else if (source.startsWith("${", at)) {
      parts.push(source.slice(from, at))
      at = endOfExpression(source, at + 2) - 1
      from = at + 1
    } else if (source[at] === undefined) throw new Error("a template literal does not end")
  }
}

const filesIn = (directory: string, ending: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(directory, name))

/** Returns all SQL templates of `src`. */
export const findTemplates = (): ReadonlyArray<SqlTemplate> =>
  filesIn(join(projectRoot, "src"), ".ts").flatMap((file) => {
    const source = readFileSync(file, "utf8")
    return [...source.matchAll(tags)].map(({ 0: tag, index }) => ({
      place: `${relative(projectRoot, file)}:${source.slice(0, index).split("\n").length}`,
      parts: templateAt(source, index + tag.length).parts.map(normal),
    }))
  })

/**
 * Returns the names of the functions in schema/sql/functions that the source, another function or a trigger calls. The
 * other ones are for processes of the previous release.
 */
export const findFunctions = (): ReadonlyArray<string> => {
  const sources = filesIn(join(projectRoot, "src"), ".ts").map((file) => readFileSync(file, "utf8"))
  const bodies = filesIn(join(projectRoot, "schema/sql/functions"), ".sql").map((file) =>
    readFileSync(file, "utf8"),
  )
  const definition = /create or replace function (\w+)/g
  const calls = [...sources, ...bodies].join("\n").replaceAll(definition, "")
  return bodies
    .flatMap((body) => [...body.matchAll(definition)].map(([, name = ""]) => name))
    .filter((name) => new RegExp(`\\b${name}\\(`).test(calls))
}

const contains = (text: string, { parts }: SqlTemplate): boolean => {
  let from = 0
  return parts.every((part) => {
    const at = text.indexOf(part, from)
    from = at + part.length
    return at >= 0
  })
}

/** Returns a function that says whether one of the statements contains the template: all of its parts, in their order. */
export const sentBy = (statements: Iterable<string>) => {
  const texts = [...new Set(statements)].map(normal)
  return (template: SqlTemplate): boolean => texts.some((text) => contains(text, template))
}

/** Returns the place of the longest template that the statement contains, or undefined if the source has none. */
export const placeOf = (templates: ReadonlyArray<SqlTemplate>, statement: string): string | undefined => {
  const text = normal(statement)
  const size = ({ parts }: SqlTemplate) => parts.join("").length
  return templates
    .filter((template) => contains(text, template))
    .reduce<SqlTemplate | undefined>((a, b) => (a === undefined || size(b) > size(a) ? b : a), undefined)
    ?.place
}
