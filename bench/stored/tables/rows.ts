/** The SQL of the keys of row n. */
export interface Keys {
  readonly user: string
  readonly order: string
  readonly organization: string
  /** The name of a secret key of the service. */
  readonly masterKey: string
}

/**
 * For each table, the columns and the rows of an INSERT. The relation `n` has the numbers of the rows, in a column of
 * the same name.
 */
export type RowsOf = Readonly<Record<string, (keys: Keys) => string>>
