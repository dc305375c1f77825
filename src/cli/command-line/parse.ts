import { parseArgs } from "node:util"
import type { CliCommand, Input } from "./command.ts"
import { nearest } from "./nearest.ts"

type Parsed =
  | { readonly command: CliCommand; readonly input: Input; readonly asJson: boolean }
  | { readonly help: ReadonlyArray<CliCommand> }
  | { readonly mistake: string; readonly command?: CliCommand }

const isHelp = (word: string, i: number): boolean =>
  word === "--help" || word === "-h" || (word === "help" && i === 0)

/** The command whose name, or former name, is the first two words, or else the first word. */
const findCommand = (words: ReadonlyArray<string>, commands: ReadonlyArray<CliCommand>) =>
  [words.slice(0, 2).join(" "), words[0]]
    .map((given) => commands.find(({ formerName, name }) => given === name || given === formerName))
    .find((found) => found !== undefined)

const unknown = (words: ReadonlyArray<string>, commands: ReadonlyArray<CliCommand>): string => {
  const given = words.slice(0, 2).join(" ")
  const meant = nearest(
    given,
    commands.map(({ name }) => name),
  )
  return `Unknown command: ${given}. ${
    meant === undefined ? 'Run "npm run cli -- help" for a list.' : `Did you mean "${meant}"?`
  }`
}

const countMistake = (words: ReadonlyArray<string>, given: ReadonlyArray<string>): string | undefined => {
  const missing = words[given.length]
  if (missing !== undefined) return `Missing argument: ${missing.toUpperCase()}`
  return given.length > words.length ? `Unexpected argument: ${given[words.length]}` : undefined
}

/** Finds the command by its name and parses the other arguments as the command declares them. */
export const parseCommand = (args: ReadonlyArray<string>, commands: ReadonlyArray<CliCommand>): Parsed => {
  const words = args.filter((word, i) => !isHelp(word, i))
  const command = findCommand(words, commands)
  const group = commands.filter(({ name }) => name.split(" ")[0] === words[0])
  if (words.length === 0) return { help: commands }
  if (command !== undefined && words.length < args.length) return { help: [command] }
  if (group.length > 0 && (words.length < args.length || words.length === 1) && command === undefined)
    return { help: group }
  if (command === undefined) return { mistake: unknown(words, commands) }
  const declared = {
    ...Object.fromEntries(
      (command.options ?? []).map((option) => [option, { type: "string", multiple: true } as const]),
    ),
    ...Object.fromEntries(
      [...(command.flags ?? []), "json"].map((flag) => [flag, { type: "boolean" } as const]),
    ),
  }
  try {
    const { positionals, values } = parseArgs({
      args: args.slice(command.name.split(" ").length),
      options: declared,
      allowPositionals: true,
    })
    const mistake = countMistake(command.words, positionals)
    if (mistake !== undefined) return { mistake, command }
    const { json, ...rest } = values as Record<string, Array<string> | boolean | undefined>
    const options = Object.fromEntries(
      Object.entries(rest).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, Array.isArray(value) ? value : [""]]],
      ),
    )
    return { command, input: { words: positionals, options }, asJson: json === true }
  } catch (error) {
    return { mistake: (error as Error).message.split(".")[0]!, command }
  }
}
