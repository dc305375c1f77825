export const noBody = new Uint8Array(0)

/**
 * Copies a body that arrives in one chunk, as nearly all bodies do. `Buffer.from` uses Node's shared pool, which
 * takes a seventh of the time of a new ArrayBuffer.
 */
export const whole = (chunk: ArrayBuffer): Uint8Array<ArrayBuffer> => Buffer.from(new Uint8Array(chunk))

/**
 * Appends a chunk to a body. The chunk is copied, because the library reuses its memory. If the memory of the body is
 * too small, twice the needed size is allocated: a client may send each byte as its own chunk, and the earlier bytes
 * must not be copied each time.
 */
export const append = (body: Uint8Array<ArrayBuffer>, chunk: ArrayBuffer): Uint8Array<ArrayBuffer> => {
  if (body.length === 0) return new Uint8Array(chunk.slice(0))
  const size = body.length + chunk.byteLength
  const room = size <= body.buffer.byteLength ? body.buffer : new ArrayBuffer(2 * size)
  const grown = new Uint8Array(room, 0, size)
  if (room !== body.buffer) grown.set(body)
  grown.set(new Uint8Array(chunk), body.length)
  return grown
}
