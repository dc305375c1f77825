/**
 * The name of a request header, lower-case, in the form in which the library finds it fastest: a text would be measured,
 * copied and converted for each request.
 */
export type HeaderKey = ArrayBuffer

export const headerKey = (lowerCaseName: string): HeaderKey =>
  Uint8Array.from(new TextEncoder().encode(lowerCaseName)).buffer
