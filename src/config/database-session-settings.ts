/** Session settings that our statements rely on. The operator's role, database or URL may have other values. */
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

/** Postgres ignores the letter case of names. If a name is set twice, the last value wins. */
export const isSessionSetting = (name: string): boolean => names.has(name.toLowerCase())
