export const noBody = new Uint8Array(0)

/** A body that came as one chunk, as nearly all do: copied to where many small ones lie, which takes a seventh of the time. */
export const whole = (chunk: ArrayBuffer): Uint8Array<ArrayBuffer> => Buffer.from(new Uint8Array(chunk))

/**
 * What has come of a body, with one more chunk. That chunk's memory is taken back by the library, so it is copied. Room is
 * doubled: a client may send each byte as a chunk of its own, and all that came before must not move for each.
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
