import type { Config } from "./config.ts"

/** Who only keeps workers has loaded nothing the demo is made of. */
const demoLines = async (config: Config) => (config.demo ? (await import("./demo.ts")).demoLines(config) : [])

/** What a person who has just started the service wants to see. */
export const banner = async (config: Config): Promise<string> =>
  [
    "",
    `  Emoji Id Directory on ${config.baseUrl}`,
    `  docs     ${config.baseUrl}/docs`,
    `  try      curl ${config.baseUrl}/emoji`,
    ...(config.payments === "sandbox" ? ["  PAYMENTS=sandbox: test payments, no real money is charged"] : []),
    ...(await demoLines(config)).map((line) => `  ${line}`),
    "",
  ].join("\n")
