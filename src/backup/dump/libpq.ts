import { readDatabaseUrl } from "../../config/database-url.ts"
import type { DatabaseAddress } from "../../postgres/client.ts"

/** The parameters of a URL that libpq knows. It refuses others, such as session settings that our client sends. */
const known = new Set([
  "application_name",
  "channel_binding",
  "client_encoding",
  "connect_timeout",
  "dbname",
  "fallback_application_name",
  "gssencmode",
  "gsslib",
  "host",
  "hostaddr",
  "keepalives",
  "keepalives_count",
  "keepalives_idle",
  "keepalives_interval",
  "krbsrvname",
  "options",
  "passfile",
  "port",
  "require_auth",
  "requirepeer",
  "sslcert",
  "sslcompression",
  "sslcrl",
  "sslcrldir",
  "sslkey",
  "sslmode",
  "sslrootcert",
  "sslsni",
  "tcp_user_timeout",
  "user",
])

const urlParts = /^(\w+:\/\/)(?:([^/?#@]*)@)?([^?#]*)(?:\?([^#]*))?/

export interface LibpqConnection {
  /** The connection without a password, because other users can read the arguments of a program. */
  readonly uri: string
  readonly environment: Readonly<Record<string, string>>
}

/** libpq does not decode a plus sign as a space. */
const toQuery = (parameters: URLSearchParams): string => parameters.toString().replaceAll("+", "%20")

/**
 * Converts the address of the database for the programs of Postgres. They must use the primary: a standby lacks the last
 * writes. A password of a TLS key has no environment variable, so it is not supported.
 */
export const toLibpq = (address: DatabaseAddress): LibpqConnection => {
  if (!("url" in address)) {
    const { database, port, socketDir } = address
    const query = new URLSearchParams({ host: socketDir, port: String(port), user: "postgres" })
    return { uri: `postgresql:///${encodeURIComponent(database)}?${toQuery(query)}`, environment: {} }
  }
  const [, scheme = "", login = "", place = "", query = ""] = urlParts.exec(address.url) ?? []
  const parameters = new URLSearchParams(query)
  if (parameters.has("sslpassword"))
    throw new Error("DATABASE_URL: the password of a TLS key (sslpassword) is not supported for backups.")
  const colon = login.indexOf(":")
  const [user, secret] = colon < 0 ? [login, ""] : [login.slice(0, colon), login.slice(colon + 1)]
  const password = parameters.get("password") || decodeURIComponent(secret)
  const rest = new URLSearchParams([...parameters].filter(([name]) => known.has(name)))
  if (readDatabaseUrl(address.url).needsPrimary) rest.set("target_session_attrs", "read-write")
  return {
    uri: `${scheme}${user === "" ? "" : `${user}@`}${place}?${toQuery(rest)}`,
    environment: password === "" ? {} : { PGPASSWORD: password },
  }
}
