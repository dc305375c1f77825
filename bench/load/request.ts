export interface Target {
  /** The name of the measured side, for example "service" or the name of a baseline. */
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
  /** The body of the request. A string must be JSON and is sent unchanged. Any other value is encoded as JSON. */
  readonly body?: unknown
}

/** Returns the bytes of an HTTP request, so that requests can be built before the measurement and sent repeatedly. */
export function buildRequest(target: Target, parts: RequestParts): Buffer {
  const { body = "", headers = {}, method = "GET", path } = parts
  let text = `${method} ${target.basePath}${path} HTTP/1.1\r\nHost: ${hostHeader(target)}\r\n`
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`
  if (body === "") return Buffer.from(`${text}\r\n`)
  const json = typeof body === "string" ? body : JSON.stringify(body)
  const length = Buffer.byteLength(json)
  return Buffer.from(`${text}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${json}`)
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
