import type { SocketLike } from "../../src/client/live/socket-like.ts"

/** A socket without a server. The test answers the frames of the client. */
export class FakeSocket implements SocketLike {
  static all: Array<FakeSocket> = []
  static answers: (frame: Record<string, unknown>, socket: FakeSocket) => void = () => {}
  readyState = 0
  onopen: SocketLike["onopen"] = null
  onmessage: ((event: { readonly data: unknown }) => void) | null = null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null
  onerror: SocketLike["onerror"] = null
  constructor() {
    FakeSocket.all.push(this)
    setTimeout(() => {
      if (this.readyState !== 0) return
      this.readyState = 1
      this.onopen?.(undefined as never)
    }, 1)
  }
  send(text: string): void {
    const frame = JSON.parse(text)
    setTimeout(() => FakeSocket.answers(frame, this), 1)
  }
  say(frame: unknown): void {
    this.onmessage?.({ data: JSON.stringify(frame) })
  }
  close(): void {
    this.readyState = 3
  }
}
export const greet = (frame: Record<string, unknown>, socket: FakeSocket) => {
  if (frame["type"] === "connect") socket.say({ type: "connected", user_id: null, expires_at: null })
}
