import { isLoopback } from "./config/loopback.ts"
import type { Config } from "./config/read-config.ts"

/** The module is loaded on demand, so that a process with DEMO=false does not load it. */
const demoLines = async (config: Config) =>
  config.demo ? (await import("./demo/demo.ts")).demoLines(config) : []

/**
 * The lines that say who can connect to a development server and, if it is open to the network, who can read its mail.
 */
const reachLines = ({ demoPasswords, host, production }: Config): ReadonlyArray<string> => {
  if (production) return []
  if (isLoopback(host))
    return ["network  only this machine can connect; HOST=0.0.0.0 opens it to the network"]
  const readers = demoPasswords === "published" ? "everyone who can connect can" : "only this machine can"
  return [`network  listens on ${host}; ${readers} read mail at /dev/outbox`]
}

/** The text that is printed when the service has started. */
export const banner = async (config: Config): Promise<string> =>
  [
    "",
    `  Emoji Id Directory on ${config.baseUrl}`,
    `  docs     ${config.baseUrl}/docs`,
    `  try      curl ${config.baseUrl}/emoji`,
    ...(config.payments === "sandbox" ? ["  PAYMENTS=sandbox: test payments, no real money is charged"] : []),
    ...reachLines(config).map((line) => `  ${line}`),
    ...(await demoLines(config)).map((line) => `  ${line}`),
    "",
  ].join("\n")
