/**
 * The name of a request header in lower case, as bytes. The library finds a header faster by bytes: a string would be
 * measured, copied and converted for each request.
 */
export type HeaderKey = ArrayBuffer

export const headerKey = (lowerCaseName: string): HeaderKey =>
  Uint8Array.from(new TextEncoder().encode(lowerCaseName)).buffer
