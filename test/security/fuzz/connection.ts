import { connect, type Socket } from "node:net"

/** The response to one request. Header names are in lower case; a name may occur several times. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Buffer
}

/** What happened to a request: a response, a connection that was closed without a response, or neither in time. */
export type Outcome =
  | { readonly kind: "answered"; readonly answer: RawAnswer }
  | { readonly kind: "closed"; readonly received: number }
  | { readonly kind: "hung" }

const headEnd = "\r\n\r\n"

const parseHead = (text: string) => {
  const [statusLine = "", ...lines] = text.split("\r\n")
  const headers = lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { status: Number(statusLine.split(" ")[1]), headers }
}

const bodyLength = (status: number, headers: RawAnswer["headers"], isHead: boolean): number => {
  if (isHead || status === 204 || status === 304 || status < 200) return 0
  return Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0)
}

/** Returns the first response in the bytes, or undefined if it is not complete. */
export const readAnswer = (
  bytes: Buffer,
  isHead: boolean,
): { answer: RawAnswer; rest: Buffer } | undefined => {
  const end = bytes.indexOf(headEnd)
  if (end === -1) return undefined
  const { headers, status } = parseHead(bytes.subarray(0, end).toString("latin1"))
  const start = end + headEnd.length
  const rest = start + bodyLength(status, headers, isHead)
  if (bytes.length < rest) return undefined
  if (status === 100) return readAnswer(bytes.subarray(rest), isHead)
  return { answer: { status, headers, body: bytes.subarray(start, rest) }, rest: bytes.subarray(rest) }
}

const endsConnection = ({ headers, status }: RawAnswer): boolean =>
  status === 101 || headers.some(([name, value]) => name === "connection" && value.toLowerCase() === "close")

/**
 * A connection that sends bytes as they are, one request at a time. Clients such as `fetch` would correct or refuse
 * most of the requests that a fuzzer makes.
 */
export class Connection {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  async send(bytes: Uint8Array, isHead: boolean, deadlineMs: number): Promise<Outcome> {
    const isReused = this.#socket !== undefined
    const outcome = await this.#exchange(bytes, isHead, deadlineMs)
    // The server may close an idle connection at the moment at which the next request is sent.
    return isReused && outcome.kind === "closed" && outcome.received === 0
      ? this.#exchange(bytes, isHead, deadlineMs)
      : outcome
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #exchange(bytes: Uint8Array, isHead: boolean, deadlineMs: number): Promise<Outcome> {
    const socket = this.#socket ?? connect(this.#port, "127.0.0.1").setNoDelay()
    this.#socket = socket
    socket.removeAllListeners()
    return new Promise((resolve) => {
      let received: Buffer = Buffer.alloc(0)
      const finish = (outcome: Outcome, isOver: boolean) => {
        clearTimeout(timer)
        socket.removeAllListeners()
        socket.on("error", () => {})
        if (isOver) this.close()
        // A response that nobody asked for, or the end of the connection: the next request needs a new one.
        else
          for (const event of ["data", "close"])
            socket.once(event, () => {
              if (this.#socket === socket) this.close()
            })
        resolve(outcome)
      }
      const timer = setTimeout(() => finish({ kind: "hung" }, true), deadlineMs)
      socket.on("data", (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        const read = readAnswer(received, isHead)
        if (read === undefined) return
        const isOver = read.rest.length > 0 || endsConnection(read.answer)
        finish({ kind: "answered", answer: read.answer }, isOver)
      })
      socket.on("error", () => {})
      socket.on("close", () => finish({ kind: "closed", received: received.length }, true))
      socket.write(bytes)
    })
  }
}
