import { Effect } from "effect"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import { AppConfig, type Config } from "../config/config.ts"
import { isLoopback } from "../config/loopback.ts"

/** The request headers that checkDeveloper reads. */
export const developerHeaders = ["host", "origin", "sec-fetch-site"] as const

const hostForm = /^(\[[0-9a-f:.]+\]|[^\s:@/?#\\]+)(?::\d+)?$/i

const ownUrls = ({ authUrl, baseUrl, webUrl }: Config) =>
  [baseUrl, authUrl, webUrl].map((url) => new URL(url))

/** Rejects DNS rebinding: a page whose host name resolves to this machine sends its own name in the Host header. */
const isOwnHost = (config: Config, host: string): boolean => {
  const name = hostForm
    .exec(host)?.[1]
    ?.replace(/^\[(.*)\]$/, "$1")
    .toLowerCase()
  if (name === undefined) return false
  return (
    isLoopback(name) ||
    name === config.host ||
    ownUrls(config).some(({ hostname }) => hostname === name || hostname === `[${name}]`)
  )
}

/** Browsers send the origin of the requesting page. Other programs send none. */
const isOwnOrigin = (config: Config, origin: string, host: string): boolean =>
  origin === "" ||
  (URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) ||
  ownUrls(config).some((url) => url.origin === origin)

/**
 * A caller on another machine can send any Host header. A container that is published on loopback sees its callers
 * under the address of a gateway: DEMO_PASSWORDS=published means that every caller is trusted.
 */
const isTrustedCaller = ({ demoPasswords }: Config, address: string): boolean =>
  isLoopback(address) || demoPasswords === "published"

/**
 * Developer routes show codes and login links without a login. They do not exist in production. Elsewhere they answer
 * only callers on this machine, and only programs and pages of this server.
 */
export const checkDeveloper = Effect.fnUntraced(function* (
  headers: Readonly<Record<string, string>>,
  address: string,
) {
  const config = yield* AppConfig
  const { host = "", origin = "", "sec-fetch-site": site = "" } = headers
  if (config.production) return yield* new NotFound({ error: "Path not found." })
  if (!isTrustedCaller(config, address)) {
    return yield* new Forbidden({
      error:
        "Developer routes answer only callers on this machine. Set DEMO_PASSWORDS=published to answer every caller.",
    })
  }
  if (!isOwnHost(config, host)) {
    return yield* new Forbidden({
      error:
        "Developer routes answer only for localhost and the host of BASE_URL. Use one of them in the URL.",
    })
  }
  if (!isOwnOrigin(config, origin, host) || !["", "same-origin", "none"].includes(site)) {
    return yield* new Forbidden({ error: "Developer routes do not answer pages of other origins." })
  }
})
