/** The parts of a database URL: scheme and login, servers, path, and query. */
const urlParts = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/
const serverParts = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/

export const isPort = (text: string): boolean => /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535

interface Server {
  readonly host: string
  readonly port: string
}

const readServer = (text: string): Server => {
  const parts = serverParts.exec(text)
  if (parts === null) throw new Error(`${text} is not a valid server`)
  return { host: decodeURIComponent(parts[1] ?? ""), port: parts[2] ?? "" }
}

/** An empty parameter counts as absent, as in a URL of one server. */
const split = (list: string | null): ReadonlyArray<string> =>
  list === null || list === "" ? [] : list.split(",")

/** One port is used for all servers, several are one for each. */
const portOf = (ports: ReadonlyArray<string>, i: number, count: number): string | undefined => {
  if (ports.length > 1 && ports.length !== count)
    throw new Error(`port lists ${ports.length} ports for ${count} servers`)
  return ports.length > 1 ? ports[i] : ports[0]
}

/**
 * Returns one URL for each server of a libpq URL. libpq allows several servers as `h1:p1,h2:p2`, and as lists in the
 * parameters `host` and `port`, which replace the hosts and the ports before the path. In the results, the parameters name
 * the server. A URL of one server is returned as it is.
 */
export const urlsOfServers = (url: string): ReadonlyArray<string> => {
  const [, login = "", authority = "", path = "", query = ""] = urlParts.exec(url) ?? []
  const parameters = new URLSearchParams(query)
  const named = split(parameters.get("host"))
  const places = authority.split(",").map(readServer)
  const hosts = named.length > 0 ? named : places.map(({ host }) => host)
  if (hosts.length === 1 && places.length === 1) return [url]
  const given = split(parameters.get("port"))
  const ports = given.length > 0 ? given : places.map((place) => place.port)
  return hosts.map((host, i) => {
    const bare = host.replace(/^\[(.*)\]$/, "$1")
    if (bare === "") throw new Error("a server in the list has no host")
    const number = portOf(ports, i, hosts.length) || "5432"
    if (!isPort(number)) throw new Error(`port=${number} is not a valid port`)
    parameters.set("host", bare)
    parameters.set("port", number)
    return `${login}localhost${path}?${parameters}`
  })
}

/**
 * Returns the URL with its first server only. It is for checks of the other parts of the URL: a list of servers with ports
 * is not a valid URL.
 */
export const withFirstServer = (url: string): string =>
  url.replace(urlParts, (whole, login: string, authority: string) =>
    authority.includes(",")
      ? whole.replace(login + authority, () => login + authority.slice(0, authority.indexOf(",")))
      : whole,
  )
