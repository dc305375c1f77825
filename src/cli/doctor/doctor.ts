import { type Config, readConfig } from "../../config/read-config.ts"
import type { ToolCommand } from "../command-line/command.ts"
import { checkAddresses } from "./addresses.ts"
import { checkDatabase } from "./database.ts"
import { checkFiles } from "./files.ts"
import { type Finding, failedStart, messageOf, ok } from "./finding.ts"
import { checkProviders } from "./providers.ts"
import { checkSecrets } from "./secrets.ts"

interface Report {
  readonly ok: boolean
  readonly checks: ReadonlyArray<Finding>
}

const parts: Readonly<Record<string, (config: Config) => Promise<ReadonlyArray<Finding>>>> = {
  database: checkDatabase,
  secrets: checkSecrets,
  files: checkFiles,
  providers: checkProviders,
  addresses: checkAddresses,
}

/** All checks run, also if one of them has a defect. */
const checkAll = async (config: Config): Promise<ReadonlyArray<Finding>> => {
  const found = await Promise.all(
    Object.entries(parts).map(([name, part]) =>
      part(config).catch((error: unknown) => [
        failedStart(name, new Error(`not checked: ${messageOf(error)}`)),
      ]),
    ),
  )
  return [
    ok("settings", `all settings can be read (${config.production ? "production" : "development"})`),
    ...found.flat(),
  ]
}

export const diagnose = async (
  environment?: Readonly<Record<string, string | undefined>>,
): Promise<Report> => {
  const read = readConfig(environment)
  const checks =
    "problems" in read
      ? read.problems.map((problem) => failedStart("settings", new Error(problem)))
      : await checkAll(read.config)
  return { ok: checks.every(({ state }) => state !== "failed"), checks }
}

const lineOf = ({ advice, check, message, state }: Finding): string => {
  const end = advice === undefined ? "" : `. ${advice}`
  return `${state.padEnd(8)} ${check.padEnd(12)} ${message}${end}`
}

const text = ({ checks }: Report): string => {
  const count = (state: Finding["state"]) => checks.filter((one) => one.state === state).length
  return [
    ...checks.map(lineOf),
    "",
    `${checks.length} checks: ${count("ok")} ok, ${count("warning")} warnings, ${count("failed")} failed`,
  ].join("\n")
}

const doctor: ToolCommand = {
  name: "doctor",
  words: [],
  summary:
    "Check the settings, the database, secrets, files, mail, payments and the service, and say what to do. Changes nothing. The exit code is 1 if a check has failed",
  tool: () => diagnose(),
  text,
  isFailure: (report) => !(report as Report).ok,
}

export const doctorCommands: ReadonlyArray<ToolCommand> = [doctor]
