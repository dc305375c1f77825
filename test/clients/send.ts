import { request } from "node:http"

interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: clients read responses of every shape
  readonly body: any
}

/**
 * Sends a request with exactly these headers, plus Host, Connection and Content-Length. `fetch` adds headers of its own and
 * rewrites paths, so it cannot stand for another client.
 */
export const send = (
  service: { readonly url: string },
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  sent?: string | object,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    const body = sent === undefined || typeof sent === "string" ? sent : JSON.stringify(sent)
    const { hostname: host, port } = new URL(service.url)
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) }
    const outgoing = request({ host, port, method, path, headers: { ...headers, ...length } }, (incoming) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("error", reject)
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = incoming.headers["content-type"]?.startsWith("application/json") === true
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          body: isJson && text !== "" ? JSON.parse(text) : undefined,
        })
      })
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })

/** The headers of the HTTP libraries that existing clients use. */
export const libraries = {
  dart: { "user-agent": "Dart/3.4 (dart:io)", "accept-encoding": "gzip" },
  okhttp: {
    "Content-Type": "application/json",
    Accept: "application/json",
    "Accept-Encoding": "gzip",
    "User-Agent": "okhttp/4.9.1",
  },
  urlSession: {
    Accept: "*/*",
    "Accept-Language": "en-GB,en;q=0.9",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "Wallet/1 CFNetwork/1494.0.7 Darwin/23.4.0",
  },
  superagent: { Accept: "*/*", "Accept-Encoding": "gzip, deflate", "User-Agent": "node-superagent/3.8.3" },
  requests: {
    Accept: "*/*",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "python-requests/2.31.0",
  },
} as const

/** Times need exactly three digits after the second: a mobile library reads them with a fixed pattern. */
export const fixedTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
