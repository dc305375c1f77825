import type { Config } from "./config/config.ts"
import { isLoopback } from "./config/loopback.ts"

/** Who only keeps workers has loaded nothing the demo is made of. */
const demoLines = async (config: Config) =>
  config.demo ? (await import("./demo/demo.ts")).demoLines(config) : []

/** Who can reach a development server, and who can read its mail. */
const reachLines = ({ demoPasswords, host, production }: Config): ReadonlyArray<string> => {
  if (production) return []
  if (isLoopback(host)) return ["network  only this machine reaches it; HOST=0.0.0.0 opens it to the network"]
  const readers = demoPasswords === "published" ? "everyone who reaches it reads" : "only this machine reads"
  return [`network  listens on ${host}; ${readers} mail at /dev/outbox`]
}

/** What a person who has just started the service wants to see. */
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
