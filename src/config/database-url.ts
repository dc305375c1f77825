import { readFileSync } from "node:fs"
import { isIPv6 } from "node:net"
import type { ConnectionOptions } from "node:tls"
import { isPort, urlsOfServers } from "./database-servers.ts"
import { isSessionSetting } from "./database-session-settings.ts"

/**
 * Parameters of libpq that are removed from the URL and have no effect. Our client would send them to the server,
 * which rejects them.
 */
const ignored = new Set([
  "connect_timeout",
  "fallback_application_name",
  "gsslib",
  "keepalives",
  "keepalives_count",
  "keepalives_idle",
  "keepalives_interval",
  "krbsrvname",
  "passfile",
  "sslcompression",
  "sslsni",
  "tcp_user_timeout",
])

/** Parameters of libpq that are not supported. The listed values are still allowed, because they require nothing. */
const unsupported: Readonly<Record<string, ReadonlyArray<string>>> = {
  channel_binding: ["prefer", "disable"],
  gssencmode: ["prefer", "disable"],
  load_balance_hosts: ["disable"],
  requirepeer: [""],
  require_auth: [""],
  sslcrl: [""],
  sslcrldir: [""],
}

const files = { sslrootcert: "ca", sslcert: "cert", sslkey: "key" } as const
const fileNames = Object.keys(files) as ReadonlyArray<keyof typeof files>

const readFile = (name: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`cannot read ${name}: ${(error as Error).message}`)
  }
}

/**
 * Returns the TLS options of the client, or undefined if the URL names no certificate or key file, or disables TLS.
 * The rules are those of libpq: with a root certificate, `require` also checks the issuer, and the host name is
 * checked only with `verify-full` or with the root certificate `system`.
 */
const tlsOf = (parameters: URLSearchParams): ConnectionOptions | undefined => {
  const given = fileNames.flatMap((name) => {
    const path = parameters.get(name)
    return path === null || path === "" ? [] : [{ name, path }]
  })
  const root = parameters.get("sslrootcert")
  const mode = parameters.get("sslmode") ?? (root === null ? "" : "verify-full")
  if (given.length === 0 || mode === "disable") return undefined
  const parts = given
    .filter(({ path }) => path !== "system")
    .map(({ name, path }) => [files[name], readFile(name, path)] as const)
  const password = parameters.get("sslpassword")
  const isSignerChecked = mode.startsWith("verify-") || (mode === "require" && root !== null)
  return {
    ...Object.fromEntries(parts),
    ...(password === null ? {} : { passphrase: password }),
    rejectUnauthorized: isSignerChecked,
    ...(mode === "verify-full" || root === "system" ? {} : { checkServerIdentity: () => undefined }),
  }
}

/** Query parameters of libpq that override parts of the URL, and the names of the client options that replace them. */
const places = { host: "host", port: "port", user: "user", password: "pass", dbname: "database" } as const

type Place = {
  readonly [Name in Exclude<(typeof places)[keyof typeof places], "host" | "port">]?: string
} & { readonly host?: string | [string]; readonly port?: string | [string] }

const placeOf = ({ hostname, port: ownPort, searchParams }: URL): Place => {
  const overrides = Object.entries(places).flatMap(([name, option]) => {
    const value = searchParams.get(name)
    return value === null || value === "" ? [] : [[option, value]]
  })
  const port = searchParams.get("port")
  if (port && !isPort(port)) throw new Error(`port=${port} is not a valid port`)
  // The host of the URL may be a percent-encoded path: the folder that contains the server's Unix socket.
  const folder = /^%2f/i.test(hostname) ? { host: decodeURIComponent(hostname) } : {}
  const place = { ...folder, ...(Object.fromEntries(overrides) as { readonly host?: string }) }
  const address = (place.host ?? hostname).replace(/^\[(.*)\]$/, "$1")
  // An IPv6 address is a list of one address, because the client (postgres 3.4.9) would split a text at its colons.
  return isIPv6(address) ? { ...place, host: [address], port: [port || ownPort || "5432"] } : place
}

/** How to connect to one server. */
export interface DatabaseServer {
  /** The name for log lines, for example `db1:5432`. */
  readonly name: string
  /** The URL for the client, with only the parameters that the client supports. */
  readonly url: string
  /** Client options that are used in addition to the URL. */
  readonly options: Place & { readonly ssl?: ConnectionOptions | false }
}

/**
 * Adds the host `localhost` to a URL that has a login and no host. Only libpq accepts such a URL; its real host is a
 * query parameter.
 */
export const withHost = (text: string): string =>
  text.replace(/^(\w+:\/\/[^/?#@]*@)(?=[/?]|$)/, "$1localhost")

interface DatabaseUrl {
  readonly servers: readonly [DatabaseServer, ...ReadonlyArray<DatabaseServer>]
  /** Whether a server that is not the primary must not be used. */
  readonly needsPrimary: boolean
}

const needsPrimary = (asked: string | null, servers: number): boolean => {
  if (asked === null || asked === "" || asked === "any") return servers > 1
  if (asked === "read-write" || asked === "primary") return true
  throw new Error(
    `target_session_attrs=${asked} is not supported: the service writes, so it needs the primary; use primary or read-write`,
  )
}

const readServer = (text: string): DatabaseServer => {
  const url = new URL(text)
  const parameters = url.searchParams
  for (const [name, allowed] of Object.entries(unsupported)) {
    const value = parameters.get(name)
    if (value !== null && !allowed.includes(value))
      throw new Error(`${name}=${value} is not supported; remove it`)
  }
  const place = placeOf(url)
  // TLS is off for a Unix socket: Postgres does not support it there, and other machines cannot read a Unix socket.
  const host = String(place.host ?? url.hostname)
  const ssl = host.startsWith("/") ? (false as const) : tlsOf(parameters)
  const removed = [...parameters.keys()].filter(
    (name) =>
      ignored.has(name) ||
      name in unsupported ||
      name in files ||
      name in places ||
      name === "sslpassword" ||
      isSessionSetting(name) ||
      name === "target_session_attrs",
  )
  const options: DatabaseServer["options"] = ssl === undefined ? place : { ...place, ssl }
  const name = host.startsWith("/") ? host : `${host}:${place.port ?? (url.port || "5432")}`
  if (removed.length === 0) return { name, url: text, options }
  for (const parameter of removed) parameters.delete(parameter)
  return { name, url: url.href, options }
}

const read = (given: string): DatabaseUrl => {
  const urls = urlsOfServers(withHost(given)).map(withHost)
  const [first, ...others] = urls.map(readServer)
  if (first === undefined) throw new Error("the URL names no server")
  const attributes = new URL(urls[0] ?? "").searchParams.get("target_session_attrs")
  return { servers: [first, ...others], needsPrimary: needsPrimary(attributes, urls.length) }
}

const known = new Map<string, DatabaseUrl>()

/**
 * Converts a libpq URL for our client, for each of its servers. Each URL is converted once and remembered, because the files that it names may
 * be removed later.
 */
export const readDatabaseUrl = (text: string): DatabaseUrl => {
  const found = known.get(text) ?? read(text)
  known.set(text, found)
  return found
}
