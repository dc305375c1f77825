import { parseArgs } from "node:util"
import type { CliCommand, Input } from "./command.ts"

type Parsed =
  | { readonly command: CliCommand; readonly input: Input; readonly asJson: boolean }
  | { readonly help: true }
  | { readonly mistake: string; readonly command?: CliCommand }

/** The command whose name is the first two words, or else the first word. */
const findCommand = (args: ReadonlyArray<string>, commands: ReadonlyArray<CliCommand>) =>
  commands.find(({ name }) => name === args.slice(0, 2).join(" ")) ??
  commands.find(({ name }) => name === args[0])

/** Finds the command by its name and parses the other arguments as the command declares them. */
export const parseCommand = (args: ReadonlyArray<string>, commands: ReadonlyArray<CliCommand>): Parsed => {
  if (args.length === 0 || args[0] === "help" || args.includes("--help") || args.includes("-h"))
    return { help: true }
  const command = findCommand(args, commands)
  if (command === undefined)
    return {
      mistake: `unknown command ${JSON.stringify(args.slice(0, 2).join(" "))}. Run "npm run cli -- help" for a list.`,
    }
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
    if (positionals.length !== command.words.length) {
      return { mistake: `expected ${command.words.length} arguments, got ${positionals.length}`, command }
    }
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
