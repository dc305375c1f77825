/**
 * Session settings that our statements rely on. Every connection sets them, because the operator's role, database or
 * URL may set other values.
 */
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

/**
 * Whether this is the name of one of our session settings. The letter case is ignored, because Postgres ignores it
 * too: if a connection sets a name twice, in any letter case, Postgres uses the last value.
 */
export const isSessionSetting = (name: string): boolean => names.has(name.toLowerCase())
