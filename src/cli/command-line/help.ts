import type { CliCommand } from "./command.ts"

/** The values of arguments in examples, by the name of the argument. */
export const samples: Readonly<Record<string, string>> = {
  address: "you@example.com",
  channel: "market",
  client_id: "3f0c8a1e-5b1d-4c57-9d2b-0c2f4c1d7a10",
  code: "beta",
  code_id: "7d0c5f86-3f5a-4be2-a8b1-7a0c6b8e1f22",
  description: '"Beta features"',
  email: "ada@example.com",
  file: "ids.csv",
  id: "42",
  kid: "ASVexwTMN4L8Mpw-CCpqj2_WOIXRJwV-KjwqtRrwohU",
  name: '"Wallet Co"',
  order: "0198a7c2-6d3e-7a40-9b1c-2f4d5e6a7b80",
  organization: "wallet-co",
  partner: "wallet-co",
  role: "Admin",
  user: "ada@example.com",
}

const start = "npm run cli --"

const formOf = ({ flags = [], name, options = [], words }: CliCommand): string =>
  [
    name,
    ...words.map((word) => word.toUpperCase()),
    ...options.map((option) => `[--${option} …]`),
    ...flags.map((flag) => `[--${flag}]`),
  ].join(" ")

const exampleOf = ({ example, name, words }: CliCommand): string =>
  [start, name, example ?? words.map((word) => samples[word] ?? word.toUpperCase()).join(" ")]
    .join(" ")
    .trim()

const nouns = [
  "USER is an email or an id. ORGANIZATION and PARTNER are a partner path or an id. ORDER is an order number or an id.",
  "Every command accepts --json, and --help shows an example.",
  "The commands use the database of DATABASE_URL, or the embedded database of the service in DATA_DIR.",
  "Exit codes: 0 success, 1 failure, 2 invalid usage.",
]

/** The help of one command with its example, or the list of several commands. */
export const help = (commands: ReadonlyArray<CliCommand>): string => {
  const [first] = commands
  if (commands.length === 1 && first !== undefined)
    return [
      `Usage: ${start} ${formOf(first)} [--json]`,
      "",
      `${first.summary}.`,
      "",
      "Example:",
      `  ${exampleOf(first)}`,
    ].join("\n")
  return [
    `Usage: ${start} COMMAND [--json]`,
    "",
    ...commands.flatMap((command) => [`  ${formOf(command)}`, `      ${command.summary}`]),
    "",
    ...nouns,
  ].join("\n")
}

export const commandUsage = (command: CliCommand): string =>
  `Usage: ${start} ${formOf(command)}\nExample: ${exampleOf(command)}`
