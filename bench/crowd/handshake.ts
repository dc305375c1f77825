import { createHash } from "node:crypto"
import { buildRequest, type Target } from "../load/request.ts"

const key = Buffer.from("one key for many").toString("base64")
const expectedAccept = createHash("sha1")
  .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  .digest("base64")

export const upgradeRequest = (
  target: Target,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Buffer =>
  buildRequest(target, {
    path,
    headers: {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": key,
      ...headers,
    },
  })

export type Upgrade =
  | { readonly state: "incomplete" }
  | { readonly state: "refused"; readonly status: string }
  | { readonly state: "accepted"; readonly bytes: number }

export function readUpgrade(buffer: Buffer, end: number): Upgrade {
  const headEnd = buffer.subarray(0, end).indexOf("\r\n\r\n")
  if (headEnd < 0) return { state: "incomplete" }
  const head = buffer.toString("latin1", 0, headEnd)
  const status = head.slice(9, 12)
  const accept = /^sec-websocket-accept: *(\S+)/im.exec(head)?.[1]
  if (status !== "101" || accept !== expectedAccept) return { state: "refused", status }
  return { state: "accepted", bytes: headEnd + 4 }
}
