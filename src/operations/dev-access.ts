import { Effect } from "effect"
import { Forbidden, NotFound } from "../../schema/errors.ts"
import { isLoopback } from "../config/loopback.ts"
import { AppConfig, type Config } from "../config/read-config.ts"

/** The request headers that checkDeveloper reads. */
export const developerHeaders = ["host", "origin", "sec-fetch-site"] as const

const hostForm = /^(\[[0-9a-f:.]+\]|[^\s:@/?#\\]+)(?::\d+)?$/i

const ownUrls = ({ authUrl, baseUrl, webUrl }: Config) =>
  [baseUrl, authUrl, webUrl].map((url) => new URL(url))

/**
 * Whether the Host header names this machine or a configured URL. This rejects DNS rebinding: if another
 * site lets its host name resolve to this machine, the browser sends that host name in the Host header.
 */
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

/**
 * Whether the Origin header is empty or names this server. Programs send no Origin header. Browsers leave it out of
 * some requests, so the caller of this function also checks Sec-Fetch-Site.
 */
const isOwnOrigin = (config: Config, origin: string, host: string): boolean =>
  origin === "" ||
  (URL.canParse(origin) && new URL(origin).host === host.toLowerCase()) ||
  ownUrls(config).some((url) => url.origin === origin)

/**
 * Whether the caller's address is on this machine, or DEMO_PASSWORDS=published trusts every caller. The Host header
 * does not show where the caller is, because a caller on another machine can send any value. In a container all callers
 * have the address of a gateway, so there DEMO_PASSWORDS=published is needed.
 */
const isTrustedCaller = ({ demoPasswords }: Config, address: string): boolean =>
  isLoopback(address) || demoPasswords === "published"

/**
 * Fails if the caller is not allowed to use the developer routes, which show codes and login links without a login. In
 * production it always fails with NotFound. Outside production the caller must be trusted (`isTrustedCaller`), the Host
 * header must name this server, and the request must come from a program or from a page of this server.
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
