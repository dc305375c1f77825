export interface Target {
  /** Which side of the comparison this is: "service", or a baseline's name. */
  readonly side: string
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly basePath: string
}

export interface RequestParts {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** One request as the bytes to put on the wire: built before the clock starts, written as often as wanted. */
export function buildRequest(target: Target, parts: RequestParts): Buffer {
  const body = parts.body === undefined ? undefined : Buffer.from(JSON.stringify(parts.body))
  const headers: Record<string, string> = { Host: hostHeader(target) }
  if (body !== undefined) {
    headers["Content-Type"] = "application/json"
    headers["Content-Length"] = String(body.length)
  }
  Object.assign(headers, parts.headers)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(
    `${parts.method ?? "GET"} ${target.basePath}${parts.path} HTTP/1.1\r\n${lines.join("")}\r\n`,
  )
  return body === undefined ? head : Buffer.concat([head, body])
}

export function hostHeader(target: Target): string {
  const host = target.host.includes(":") ? `[${target.host}]` : target.host
  return target.port === (target.tls ? 443 : 80) ? host : `${host}:${target.port}`
}

export function targetOfUrl(side: string, url: URL): Target {
  const tls = url.protocol === "https:"
  return {
    side,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? (tls ? 443 : 80) : Number(url.port),
    tls,
    basePath: url.pathname.replace(/\/$/, ""),
  }
}

export const urlOfTarget = (target: Target, path: string): string =>
  `${target.tls ? "https" : "http"}://${hostHeader(target)}${target.basePath}${path}`
