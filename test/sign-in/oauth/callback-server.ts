import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { cleanUp } from "../../fixtures/suite/clean-up.ts"

/** Starts a local web server of a third party: an application, or the return page of a wallet. Returns its origin. */
export const serveCallbacks = async (
  answer: (url: URL, request: IncomingMessage, response: ServerResponse) => void | Promise<void>,
): Promise<string> => {
  let origin = ""
  const server = createServer((request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8")
    Promise.resolve(answer(new URL(request.url ?? "/", origin), request, response)).catch(
      (error: unknown) => {
        response.statusCode = 500
        response.end(String(error))
      },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  cleanUp(() => {
    server.closeAllConnections()
    server.close()
  })
  return origin
}
