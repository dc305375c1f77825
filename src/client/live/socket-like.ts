/**
 * The part of a WebSocket that this client uses. Browsers and Node 22 have a global one; for Node 20 pass the class of
 * the package `ws`. Handlers take `never`, so that each of these classes fits without a cast.
 */
export interface SocketLike {
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(text: string): void
  close(code?: number, reason?: string): void
}

export type SocketConstructor = new (url: string) => SocketLike
