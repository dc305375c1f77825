import { once } from "node:events"
import { createServer } from "node:net"
import { describe, expect, it } from "vitest"
import { listenProblem } from "../../src/http/listen-problem.ts"
import { freePort } from "../fixtures/free-port.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

describe("a port that cannot be listened on", () => {
  it("is reported with its setting if another process uses it", async () => {
    const port = await freePort()
    const other = createServer().listen(port, "127.0.0.1")
    await once(other, "listening")
    cleanUp(async () => void other.close())
    expect(await listenProblem("127.0.0.1", port, "METRICS_PORT")).toMatch(
      new RegExp(`^METRICS_PORT: port ${port} of 127\\.0\\.0\\.1 is in use\\. .*another METRICS_PORT\\.$`),
    )
  })

  it("is reported as a mistake in HOST if the address does not belong to this machine", async () => {
    expect(await listenProblem("192.0.2.1", await freePort())).toMatch(
      /^HOST: 192\.0\.2\.1 is no address of this machine\. /,
    )
  })

  it("is not reported if it is free", async () => {
    expect(await listenProblem("127.0.0.1", await freePort())).toBeUndefined()
  })
})
