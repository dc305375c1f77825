import { WebSocket } from "ws"
import { createClient } from "../../src/client/client.ts"
import type { TestService } from "../fixtures/service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

export type ClientOptions = Partial<Parameters<typeof createClient>[0]>

/** Opens a client over real sockets with a short backoff. It is closed after the tests of the file. */
export const openClient = ({ url }: TestService, options: ClientOptions = {}) => {
  const client = createClient({
    baseUrl: url,
    WebSocket,
    backoff: { firstMs: 20, longestMs: 50 },
    ...options,
  })
  cleanUp(() => client.live.close())
  return client
}
