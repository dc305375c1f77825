/**
 * Which other folders of `src` each folder of `src` may import. A folder may also import itself, `schema`, `machines`
 * and `actors`.
 * An import that is not listed fails the architecture test, and so does an entry that no file uses.
 */

/** The platform, from the bottom up. It imports no subject. */
export const platform: Readonly<Record<string, ReadonlyArray<string>>> = {
  crypto: [],
  config: ["crypto"],
  telemetry: ["config"],
  postgres: ["config", "telemetry"],
  cluster: ["config", "postgres", "telemetry"],
  turns: ["config", "crypto", "postgres", "telemetry"],
  http: ["config", "crypto", "postgres", "telemetry"],
  web: ["config", "http"],
  live: ["cluster", "config", "http", "postgres", "telemetry", "turns"],
}

/** The subjects and the other subjects they use. Every subject may also import the platform. */
export const subjects: Readonly<Record<string, ReadonlyArray<string>>> = {
  accounts: [],
  backup: [],
  "personal-data": [],
  mail: [],
  proxy: [],
  keys: ["accounts"],
  proofs: [],
  directory: ["accounts", "keys", "proofs"],
  history: ["accounts", "directory"],
  "sign-in": ["accounts", "directory"],
  organizations: ["accounts", "sign-in"],
  minting: ["accounts", "directory", "keys"],
  market: ["directory"],
  lootboxes: ["accounts", "keys", "market"],
  transfers: ["accounts", "keys", "minting"],
  orders: ["accounts", "keys", "lootboxes", "market", "sign-in"],
  partners: ["accounts", "directory", "market", "orders", "organizations", "sign-in"],
  "current-user": ["accounts", "directory", "keys", "transfers"],
  console: ["accounts", "client", "demo", "directory", "orders", "sign-in"],
  operations: [
    "accounts",
    "directory",
    "history",
    "keys",
    "mail",
    "market",
    "orders",
    "partners",
    "sign-in",
    "transfers",
  ],
  "docs-page": ["client"],
  demo: ["accounts", "directory", "keys", "lootboxes", "orders", "organizations", "sign-in"],
  cli: [
    "accounts",
    "backup",
    "client",
    "demo",
    "directory",
    "keys",
    "lootboxes",
    "mail",
    "market",
    "minting",
    "orders",
    "organizations",
    "personal-data",
    "proofs",
    "sign-in",
  ],
  client: [],
}
