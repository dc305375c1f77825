/**
 * The name of a request header, lower-case, as bytes. The library looks it up faster this way: a string would be
 * measured, copied and converted for each request.
 */
export type HeaderKey = ArrayBuffer

export const headerKey = (lowerCaseName: string): HeaderKey =>
  Uint8Array.from(new TextEncoder().encode(lowerCaseName)).buffer
