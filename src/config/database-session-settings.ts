/** What we send and read relies on these, and an operator's role, database or address may have others. */
export const sessionSettings = (statementTimeoutMs: number) =>
  ({
    client_encoding: "UTF8",
    TimeZone: "UTC",
    DateStyle: "ISO",
    bytea_output: "hex",
    default_transaction_isolation: "read committed",
    statement_timeout: statementTimeoutMs,
  }) as const

const names = new Set(Object.keys(sessionSettings(0)).map((name) => name.toLowerCase()))

/** Postgres hears names in any letter case, and of two that are the same it keeps the last. */
export const isSessionSetting = (name: string): boolean => names.has(name.toLowerCase())
