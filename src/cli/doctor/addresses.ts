import { isLoopback } from "../../config/loopback.ts"
import { productVersion } from "../../config/product-version.ts"
import type { Config } from "../../config/read-config.ts"
import { type Finding, failed, messageOf, ok, warning } from "./finding.ts"

const answerMs = 5000

const baseUrl = ({ baseUrl, production }: Config): Finding => {
  const { hostname, protocol } = new URL(baseUrl)
  const check = "base url"
  if (!production) return ok(check, `${baseUrl} (development)`)
  if (isLoopback(hostname))
    return failed(
      check,
      `${baseUrl} is this machine: links in mails and tokens contain it`,
      "Set BASE_URL to the public address, for example https://directory.example.",
    )
  return protocol === "https:"
    ? ok(check, baseUrl)
    : failed(
        check,
        `${baseUrl} is not https: passwords and tokens are sent in plain text`,
        "Set BASE_URL to an https address, and a proxy with TLS in front of the service.",
      )
}

const proxy = ({ baseUrl, production, trustProxy }: Config): ReadonlyArray<Finding> =>
  production && baseUrl.startsWith("https:") && trustProxy === "off"
    ? [
        warning(
          "proxy",
          "TRUST_PROXY is off: behind a proxy all callers share one address and its rate limits",
          "Set TRUST_PROXY=on if a proxy adds X-Forwarded-For.",
        ),
      ]
    : []

const metrics = ({ metricsPort, metricsToken, production }: Config): ReadonlyArray<Finding> =>
  production && metricsPort === undefined && metricsToken === undefined
    ? [warning("metrics", "GET /metrics is not served", "Set METRICS_PORT or METRICS_TOKEN.")]
    : []

/** Asks the service itself, at its public address. */
const service = async ({ baseUrl }: Config): Promise<Finding> => {
  const check = "service"
  const advice = "Start the service, or check BASE_URL and the proxy."
  try {
    const signal = AbortSignal.timeout(answerMs)
    const ready = await fetch(`${baseUrl}/ready`, { signal })
    if (ready.status !== 200) {
      const { error = "" } = (await ready.json().catch(() => ({}))) as { readonly error?: string }
      return failed(check, `${baseUrl}/ready answers ${ready.status} ${error}`.trim(), advice)
    }
    const { version } = (await (await fetch(`${baseUrl}/version`, { signal })).json()) as { version?: string }
    return version === productVersion
      ? ok(check, `version ${version} answers at ${baseUrl}`)
      : warning(
          check,
          `version ${version ?? "before 0.3.0"} answers at ${baseUrl}, but this command is version ${productVersion}`,
          "Run the command of the same version, or restart the service after an upgrade.",
        )
  } catch (error) {
    const reason = (error as Error).cause === undefined ? messageOf(error) : messageOf((error as Error).cause)
    return warning(check, `no answer from ${baseUrl}: ${reason}`, advice)
  }
}

export const checkAddresses = async (config: Config): Promise<ReadonlyArray<Finding>> => [
  baseUrl(config),
  ...proxy(config),
  ...metrics(config),
  await service(config),
]
