import type { Config } from "./config.ts"
import { demoLines } from "./demo.ts"

/** What a person who has just started the service wants to see. */
export const banner = (config: Config): string =>
  [
    "",
    `  Emoji Id Directory on ${config.baseUrl}`,
    `  docs     ${config.baseUrl}/docs`,
    `  try      curl ${config.baseUrl}/emoji`,
    ...demoLines(config).map((line) => `  ${line}`),
    "",
  ].join("\n")
