import { createHash } from "node:crypto"
import { createServer, type Socket } from "node:net"
import { expect, it } from "vitest"
import { NodeSocket } from "../../src/client/node-socket.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

/** A server that greets and then sends these bytes. Returns its address. */
const serveBytes = async (bytes: Buffer): Promise<string> => {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket.on("error", () => {}))
    socket.once("data", (head) => {
      const key = /sec-websocket-key: (\S+)/i.exec(head.toString())?.[1] ?? ""
      const accept = createHash("sha1").update(`${key}${magic}`).digest("base64")
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      socket.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  cleanUp(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  return `ws://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

it("a frame too large to be kept closes the socket, and not the program", async () => {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(0x817f, 0)
  head.writeBigUInt64BE(65n * 1024n * 1024n, 2)
  const socket = new NodeSocket(await serveBytes(head))
  const messages: Array<unknown> = []
  socket.onmessage = ({ data }) => void messages.push(data)
  const closed = await new Promise((resolve) => {
    socket.onclose = resolve
  })
  expect(closed).toMatchObject({ code: 1009 })
  expect(messages).toEqual([])
})
