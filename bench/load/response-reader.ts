/**
 * Called for each complete response. The body is in the buffer from `start` to `end` and is valid only during the
 * call.
 */
export type OnAnswer = (
  status: number,
  buffer: Buffer,
  start: number,
  end: number,
  keepAlive: boolean,
) => void

const headLimitBytes = 64 * 1024
/** The head of a response has at least this length: that of "HTTP/1.1 200" and a line feed. */
const shortestHeadBytes = 13
const bodyLimitBytes = 64 * 1024 * 1024

const CR = 13
const LF = 10
const contentLength = Buffer.from("content-length:")
const transferEncoding = Buffer.from("transfer-encoding:")
const connection = Buffer.from("connection:")

export class MalformedResponse extends Error {}

/**
 * Splits the received bytes into HTTP/1.1 responses. A response in one chunk, the usual case, is not copied. A
 * response in several chunks is collected until it is complete. The caller can reuse the memory of a chunk after
 * `feed` has returned.
 */
export class ResponseReader {
  readonly #onAnswer: OnAnswer
  #stash = Buffer.alloc(0)
  #stashed = 0

  #status = 0
  #length = -1
  #chunked = false
  #keepAlive = true

  constructor(onAnswer: OnAnswer) {
    this.#onAnswer = onAnswer
  }

  feed(chunk: Buffer, bytes: number): void {
    if (this.#stashed === 0) {
      const used = this.#consume(chunk, bytes)
      if (used < bytes) this.#keep(chunk, used, bytes)
      return
    }
    this.#keep(chunk, 0, bytes)
    const used = this.#consume(this.#stash, this.#stashed)
    this.#stash.copyWithin(0, used, this.#stashed)
    this.#stashed -= used
  }

  /** Reads the complete responses at the start of the buffer. Returns the number of bytes that they occupy. */
  #consume(buffer: Buffer, end: number): number {
    let start = 0
    while (start < end) {
      const bodyAt = this.#readHead(buffer, start, end)
      if (bodyAt < 0) {
        if (end - start > headLimitBytes) throw new MalformedResponse("head too large")
        return start
      }
      // An interim response (100 or 103) is skipped, because the final response follows it.
      if (this.#status < 200 && this.#status !== 101) {
        start = bodyAt
        continue
      }
      if (this.#chunked) {
        const whole = readChunks(buffer, bodyAt, end)
        if (whole === undefined) return start
        start = whole.next
        this.#onAnswer(this.#status, whole.body, 0, whole.body.length, this.#keepAlive)
        continue
      }
      const next = bodyAt + this.#bodyLength()
      if (next > end) return start
      start = next
      this.#onAnswer(this.#status, buffer, bodyAt, next, this.#keepAlive)
    }
    return start
  }

  #bodyLength(): number {
    if (this.#status === 204 || this.#status === 304 || this.#status === 101) return 0
    if (this.#length < 0) throw new MalformedResponse("no Content-Length and not chunked")
    return this.#length
  }

  /** Reads the head of a response. Returns the index at which the body starts, or -1 if the head is incomplete. */
  #readHead(buffer: Buffer, start: number, end: number): number {
    this.#length = -1
    this.#chunked = false
    this.#keepAlive = true
    if (end - start < shortestHeadBytes) return -1
    this.#status = readStatus(buffer, start)
    for (let at = start + shortestHeadBytes - 1; at < end - 1; ) {
      if (buffer[at++] !== LF) continue
      const first = buffer[at]!
      if (first === LF) return at + 1
      if (first === CR) return at + 1 < end ? at + 2 : -1
      if ((first | 32) === 99 /* c */ || (first | 32) === 116 /* t */) this.#readHeader(buffer, at, end)
    }
    return -1
  }

  /**
   * Reads one header. If the buffer ends within the header, the value may be wrong, but then the whole head is read
   * again when more bytes have arrived.
   */
  #readHeader(buffer: Buffer, line: number, end: number): void {
    if (startsWith(buffer, line, contentLength)) {
      this.#length = readNumber(buffer, line + contentLength.length, end)
    } else if (startsWith(buffer, line, connection)) {
      this.#keepAlive = !/^[^\r\n]*close/i.test(buffer.toString("latin1", line, end))
    } else if (startsWith(buffer, line, transferEncoding)) {
      this.#chunked = /^[^\r\n]*chunked/i.test(buffer.toString("latin1", line, end))
    }
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    const needed = this.#stashed + to - from
    if (needed > this.#stash.length) {
      if (needed > bodyLimitBytes) throw new MalformedResponse("response too large")
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#stash.length * 2))
      this.#stash.copy(larger, 0, 0, this.#stashed)
      this.#stash = larger
    }
    chunk.copy(this.#stash, this.#stashed, from, to)
    this.#stashed = needed
  }
}

function readStatus(buffer: Buffer, start: number): number {
  const status =
    (buffer[start + 9]! - 48) * 100 + (buffer[start + 10]! - 48) * 10 + (buffer[start + 11]! - 48)
  if (buffer[start] !== 72 /* H */ || !(status >= 100 && status <= 999))
    throw new MalformedResponse("no status line")
  return status
}

function startsWith(buffer: Buffer, at: number, lowerCase: Buffer): boolean {
  for (let i = 0; i < lowerCase.length; i++) {
    const byte = buffer[at + i]!
    const lower = byte >= 65 && byte <= 90 ? byte | 32 : byte
    if (lower !== lowerCase[i]) return false
  }
  return true
}

function readNumber(buffer: Buffer, from: number, end: number): number {
  let value = 0
  for (let at = from; at < end; at++) {
    const digit = buffer[at]! - 48
    if (digit >= 0 && digit <= 9) value = value * 10 + digit
    else if (buffer[at] === CR || buffer[at] === LF) break
  }
  if (value > bodyLimitBytes) throw new MalformedResponse("response too large")
  return value
}

function readChunks(buffer: Buffer, start: number, end: number): { body: Buffer; next: number } | undefined {
  const parts: Buffer[] = []
  let at = start
  for (;;) {
    const lineEnd = buffer.indexOf("\r\n", at)
    if (lineEnd < 0 || lineEnd + 2 > end) return undefined
    const size = Number.parseInt(buffer.toString("latin1", at, lineEnd), 16)
    if (!(size >= 0 && size <= bodyLimitBytes)) throw new MalformedResponse("bad chunk size")
    const dataAt = lineEnd + 2
    if (size === 0) {
      // Trailers can follow the last chunk. They end with an empty line, like the head.
      let trailer = dataAt
      for (;;) {
        const trailerEnd = buffer.indexOf("\r\n", trailer)
        if (trailerEnd < 0 || trailerEnd + 2 > end) return undefined
        if (trailerEnd === trailer) return { body: Buffer.concat(parts), next: trailerEnd + 2 }
        trailer = trailerEnd + 2
      }
    }
    if (dataAt + size + 2 > end) return undefined
    parts.push(buffer.subarray(dataAt, dataAt + size))
    at = dataAt + size + 2
  }
}
