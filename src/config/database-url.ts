import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import { isSessionSetting } from "./database-session-settings.ts"

/** Parameters of libpq that change nothing for us. The client would hand them to the server, which knows none of them. */
const harmless = new Set([
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

/** What is only refused where it is demanded. */
const wishes: Readonly<Record<string, ReadonlyArray<string>>> = {
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
    throw new Error(`${name} cannot be read: ${(error as Error).message}`)
  }
}

/** As libpq has it: with a root certificate `require` checks who signed, and only `verify-full` whose it is. */
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

/** What libpq takes from the query as well, and then rather than from the address. */
const places = { host: "host", port: "port", user: "user", password: "pass", dbname: "database" } as const

type Place = { readonly [Name in (typeof places)[keyof typeof places]]?: string }

const placeOf = ({ hostname, searchParams }: URL): Place => {
  const asked = Object.entries(places).flatMap(([name, option]) => {
    const value = searchParams.get(name)
    return value === null || value === "" ? [] : [[option, value]]
  })
  const port = searchParams.get("port")
  if (port !== null && !/^[1-9]\d{0,4}$/.test(port)) throw new Error(`port=${port} is no port`)
  // A folder with the server's socket in it, written where a host is.
  const folder = /^%2f/i.test(hostname) ? { host: decodeURIComponent(hostname) } : {}
  return { ...folder, ...Object.fromEntries(asked) }
}

interface DatabaseUrl {
  /** For the client: only what it understands. */
  readonly url: string
  /** Told beside the address. */
  readonly options: Place & { readonly ssl?: ConnectionOptions | false }
}

/** A login before no host at all, which only libpq takes for an address: the host is told in the query. */
export const withHost = (text: string): string =>
  text.replace(/^(\w+:\/\/[^/?#@]*@)(?=[/?]|$)/, "$1localhost")

const read = (given: string): DatabaseUrl => {
  const text = withHost(given)
  const url = new URL(text)
  const parameters = url.searchParams
  for (const [name, allowed] of Object.entries(wishes)) {
    const value = parameters.get(name)
    if (value !== null && !allowed.includes(value))
      throw new Error(`${name}=${value} cannot be honoured; leave it out`)
  }
  const place = placeOf(url)
  // Nobody listens in on a socket of the same machine, and no server encrypts on one.
  const ssl = place.host?.startsWith("/") ? (false as const) : tlsOf(parameters)
  const ours = [...parameters.keys()].filter(
    (name) =>
      harmless.has(name) ||
      name in wishes ||
      name in files ||
      name in places ||
      name === "sslpassword" ||
      isSessionSetting(name) ||
      isAny(name, url),
  )
  const options: DatabaseUrl["options"] = ssl === undefined ? place : { ...place, ssl }
  if (ours.length === 0) return { url: text, options }
  for (const name of ours) parameters.delete(name)
  return { url: url.href, options }
}

/** Any server will do: the client does not know that it can be said. */
const isAny = (name: string, { searchParams }: URL): boolean =>
  name === "target_session_attrs" && searchParams.get(name) === "any"

const known = new Map<string, DatabaseUrl>()

/** An address as libpq's users write it, in terms of our client. Read once: what it names may be gone later. */
export const readDatabaseUrl = (text: string): DatabaseUrl => {
  const found = known.get(text) ?? read(text)
  known.set(text, found)
  return found
}
