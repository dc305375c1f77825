import type { HttpResponse } from "uWebSockets.js"

/** A smaller answer is only checked for unread bytes when it is watched. */
const largeBytes = 4096
/** One in about so many answers without a body is the last one of its connection. Random: a client cannot count them. */
const answersPerEnd = 1000
const untilNextEnd = (): number => answersPerEnd * (0.5 + Math.random())
let untilEnd = untilNextEnd()

/**
 * Ends a response with its body. The library keeps all bytes that a client does not read, and goes on with the next requests
 * of that connection: without a limit, small requests would use up the memory. A large or watched body is offered to the
 * system instead. While bytes are left over, the request counts as unanswered, and the library closes the connection when
 * it sends another one. So a connection holds the buffers of the system (about 4 MB on Linux), the 16 KB the library gathers,
 * the small answers between two samples (see `AnswerPace`) and one body. A slow reader of one large body is not closed as
 * long as it reads something every ten seconds.
 */
export const writeBody = (res: HttpResponse, body: string | Uint8Array, isWatched: boolean): void => {
  if (!isWatched && body.length < largeBytes) {
    res.end(body)
    return
  }
  const total = Buffer.byteLength(body)
  const [, isDone] = res.tryEnd(body, total)
  if (isDone) return
  // A copy: the memory of a prepared answer may hold another one by then.
  const bytes = Buffer.from(body)
  // Without one the library ends the process; there is nothing to undo.
  res.onAborted(() => {})
  res.onWritable((offset) => res.tryEnd(bytes.subarray(offset), total)[0])
}

/**
 * Ends a response without a body, of which the library cannot tell whether the client has read it. One in a thousand closes
 * its connection instead, which HTTP allows at any time: a client that never reads is closed after a few hundred kilobytes,
 * and another one opens a new connection. It stays unanswered for the library until then, so that nothing follows it.
 */
export const sendNoBody = (res: HttpResponse): void => {
  if (--untilEnd > 0) {
    res.endWithoutBody()
    return
  }
  untilEnd = untilNextEnd()
  let isClosed = false
  res.onAborted(() => {
    isClosed = true
  })
  // The empty line after the last header ends the head. What the system has taken is delivered before the close.
  res.writeHeader("Date", `${new Date().toUTCString()}\r\nConnection: close\r\n`)
  setImmediate(() => {
    if (!isClosed) res.close()
  })
}
