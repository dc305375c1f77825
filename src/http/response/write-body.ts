import type { HttpResponse } from "uWebSockets.js"

/**
 * A body of this size or larger is always checked for bytes that the client has not read; a smaller body only if its
 * response is watched.
 */
const largeBytes = 4096
/**
 * On average, one in this many responses without a body closes its connection. The exact number is random, so that
 * clients cannot predict it.
 */
const responsesPerClose = 1000
const untilNextClose = (): number => responsesPerClose * (0.5 + Math.random())
let untilClose = untilNextClose()

/**
 * Ends a response with its body. The library buffers all bytes that a client does not read, and continues with the
 * next requests of the connection. So without a limit, a client could use up the memory with small requests. A large
 * or watched body is therefore written with `tryEnd`. As long as some of its bytes are not sent, the request has no
 * complete response, and the library closes the connection if another request arrives on it. So a connection uses at
 * most the system's buffers (about 4 MB on Linux), the library's 16 KB cork buffer, the small responses between two
 * samples (see `ResponsePace`) and one body. A slow reader of one large body stays connected as long as it reads
 * something every ten seconds.
 */
export const writeBody = (res: HttpResponse, body: string | Uint8Array, isWatched: boolean): void => {
  if (!isWatched && body.length < largeBytes) {
    res.end(body)
    return
  }
  const total = Buffer.byteLength(body)
  const [, isDone] = res.tryEnd(body, total)
  if (isDone) return
  // The body is copied, because the memory of a precomputed response may contain another response later.
  const bytes = Buffer.from(body)
  // Without this handler the library would end the process. After an abort there is nothing to undo.
  res.onAborted(() => {})
  res.onWritable((offset) => res.tryEnd(bytes.subarray(offset), total)[0])
}

/**
 * Ends a response without a body. The library stores responses that a client does not read. For a response without a
 * body, it does not report that the client does not read. To limit the memory, about one in a thousand of these
 * responses closes its connection, which HTTP allows at any time. A client that never reads is disconnected after a
 * few hundred kilobytes. Any other client opens a new connection. The closing response is not ended in the library,
 * so the library processes no further request of the connection.
 */
export const sendNoBody = (res: HttpResponse): void => {
  if (--untilClose > 0) {
    res.endWithoutBody()
    return
  }
  untilClose = untilNextClose()
  let isClosed = false
  res.onAborted(() => {
    isClosed = true
  })
  // The second line break is the empty line that ends the headers. The system still delivers the written bytes before
  // it closes the connection.
  res.writeHeader("Date", `${new Date().toUTCString()}\r\nConnection: close\r\n`)
  setImmediate(() => {
    if (!isClosed) res.close()
  })
}
