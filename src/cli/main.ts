import { Effect, ManagedRuntime } from "effect"
import { isProblem } from "../../schema/errors.ts"
import { type Config, readConfig } from "../config/read-config.ts"
import { RequestOrigin } from "../http/request/request-origin.ts"
import type { CliCommand, Command, Input, OfflineCommand, ServiceCommand } from "./command-line/command.ts"
import { commandUsage, help } from "./command-line/help.ts"
import { parseCommand } from "./command-line/parse.ts"
import { printed } from "./command-line/print.ts"
import { commands } from "./commands.ts"
import { openDatabase } from "./database.ts"
import { cliServices } from "./services.ts"

/** Exit codes: 0 success, 1 failure, 2 invalid usage. */
const failed = 1
const invalidUsage = 2

/** Security events of commands name the command line as their origin. */
const origin = { requestId: "", address: "", userAgent: "", userId: null, via: "command_line" } as const

const reasonOf = (error: unknown): string => {
  if (!isProblem(error)) return error instanceof Error ? error.message.split("\n")[0]! : String(error)
  const fields = Object.entries(error.fields ?? {}).flatMap(([name, issues]) =>
    issues.filter(({ message }) => message !== error.message).map(({ message }) => `${name}: ${message}`),
  )
  return [error.message, ...fields].join(" ")
}

const runOnDatabase = async (command: Command, input: Input, config: Config): Promise<unknown> => {
  const database = await openDatabase(config)
  try {
    const runtime = ManagedRuntime.make(cliServices(config, database.address))
    try {
      const outcome = await runtime.runPromise(
        Effect.result(command.run(input)).pipe(Effect.provideService(RequestOrigin, origin)),
      )
      if (outcome._tag === "Failure") throw outcome.failure
      return outcome.success
    } finally {
      await runtime.dispose()
    }
  } finally {
    await database.close()
  }
}

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Runs a command that must remove what it has written if it is stopped. */
const runOffline = async (command: OfflineCommand, input: Input, config: Config): Promise<unknown> => {
  const stop = new AbortController()
  const abort = () => stop.abort(new Error("Interrupted. Nothing was changed."))
  for (const signal of stopSignals) process.on(signal, abort)
  try {
    return await command.work(input, { config, note, signal: stop.signal })
  } finally {
    for (const signal of stopSignals) process.off(signal, abort)
  }
}

const note = (line: string): void => void process.stderr.write(`${line}\n`)

const readSettings = (): Config => {
  const read = readConfig()
  if ("problems" in read) throw new Error(read.problems.join("\n"))
  return read.config
}

const resultOf = async (command: Exclude<CliCommand, ServiceCommand>, input: Input): Promise<unknown> => {
  if ("tool" in command) return command.tool(input, { note })
  const config = readSettings()
  return "run" in command ? runOnDatabase(command, input, config) : runOffline(command, input, config)
}

/** Returns whether the command has succeeded. */
const runCommand = async (command: CliCommand, input: Input, asJson: boolean): Promise<boolean> => {
  if ("call" in command) {
    const print = (value: unknown) => console.log(JSON.stringify(value))
    await command.call(input, { baseUrl: readSettings().baseUrl, print })
    return true
  }
  const result = await resultOf(command, input)
  console.log(command.text === undefined || asJson ? printed(result, asJson) : command.text(result as never))
  return command.isFailure?.(result) !== true
}

const main = async (args: ReadonlyArray<string>): Promise<number> => {
  const parsed = parseCommand(args, commands)
  if ("help" in parsed) {
    console.log(help(parsed.help))
    return 0
  }
  if ("mistake" in parsed) {
    console.error(parsed.mistake)
    if (parsed.command !== undefined) console.error(commandUsage(parsed.command))
    return invalidUsage
  }
  try {
    return (await runCommand(parsed.command, parsed.input, parsed.asJson)) ? 0 : failed
  } catch (error) {
    console.error(reasonOf(error))
    return failed
  }
}

process.exitCode = await main(process.argv.slice(2))
