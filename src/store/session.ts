/** What we send and read relies on these, and an operator's role, database or address may have others. */
export const session = {
  client_encoding: "UTF8",
  TimeZone: "UTC",
  DateStyle: "ISO",
  bytea_output: "hex",
  default_transaction_isolation: "read committed",
} as const

const names = new Set([...Object.keys(session), "statement_timeout"].map((name) => name.toLowerCase()))

/** Postgres hears names in any letter case, and of two that are the same it keeps the last. */
export const isOurs = (name: string): boolean => names.has(name.toLowerCase())
