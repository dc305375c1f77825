import type { Config } from "./config.ts"
import { isLoopback } from "./loopback.ts"

/** Who only keeps workers has loaded nothing the demo is made of. */
const demoLines = async (config: Config) => (config.demo ? (await import("./demo.ts")).demoLines(config) : [])

/** Who can reach a development server, which shows mail to all who do. */
const reachLines = ({ host, production }: Config): ReadonlyArray<string> => {
  if (production) return []
  return isLoopback(host)
    ? ["network  only this machine reaches it; HOST=0.0.0.0 opens it to the network"]
    : [`network  listens on ${host}: everybody who reaches it can read all mail at /dev/outbox`]
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
