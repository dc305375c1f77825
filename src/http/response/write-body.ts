import type { HttpResponse } from "uWebSockets.js"

/** A smaller answer is not worth the second look. */
const largeBytes = 4096

/**
 * Ends a response with its body. The library keeps what a client does not read, and goes on with the requests that come
 * behind: a few bytes of those would cost us all the memory there is. While a large body is under way it counts as
 * unanswered instead, for which the library cuts off who asks for more.
 */
export const sendBody = (res: HttpResponse, body: string | Uint8Array): void => {
  if (body.length < largeBytes) {
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
