import type { HttpResponse } from "uWebSockets.js"

/** A smaller body is checked for unread bytes only if it is watched. */
const largeBytes = 4096
/** About one in so many responses without a body closes its connection. It is random, so clients cannot predict it. */
const responsesPerClose = 1000
const untilNextClose = (): number => responsesPerClose * (0.5 + Math.random())
let untilClose = untilNextClose()

/**
 * Ends a response with its body. The library buffers all bytes that a client does not read and continues with the
 * next requests of the connection, so without a limit a client could use up the memory with small requests. A large
 * or watched body is therefore written with `tryEnd`. While bytes are pending, the request has no complete response,
 * and the library closes the connection if it sends another request. So a connection uses the system's buffers (about
 * 4 MB on Linux), the library's 16 KB cork buffer, the small responses between two samples (see `ResponsePace`) and
 * one body. A slow reader of one large body stays connected as long as it reads something every ten seconds.
 */
export const writeBody = (res: HttpResponse, body: string | Uint8Array, isWatched: boolean): void => {
  if (!isWatched && body.length < largeBytes) {
    res.end(body)
    return
  }
  const total = Buffer.byteLength(body)
  const [, isDone] = res.tryEnd(body, total)
  if (isDone) return
  // A copy, because the memory of a precomputed response may hold another one later.
  const bytes = Buffer.from(body)
  // The library ends the process if there is no handler. There is nothing to undo.
  res.onAborted(() => {})
  res.onWritable((offset) => res.tryEnd(bytes.subarray(offset), total)[0])
}

/**
 * Ends a response without a body. For such a response the library does not report whether the client reads it, so one
 * in a thousand closes its connection, which HTTP allows at any time. A client that never reads is disconnected after
 * a few hundred kilobytes; any other client opens a new connection. The library sees no complete response until the
 * connection is closed, so it processes no later request of that connection.
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
  // The empty line after the last header ends the head. The system delivers the bytes it has before the close.
  res.writeHeader("Date", `${new Date().toUTCString()}\r\nConnection: close\r\n`)
  setImmediate(() => {
    if (!isClosed) res.close()
  })
}
