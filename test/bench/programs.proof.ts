import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { waitUntil } from "../../bench/load/wait.ts"
import { isAlive } from "../fixtures/program.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"
import { patienceMs } from "../fixtures/suite/patience.ts"

/** These programs are loaded with tsx, which takes several seconds of processor time for each. */
const typescript = ["--import", "tsx"]

it("a measured server exits when the bench is killed", async () => {
  const program = fileURLToPath(new URL("./fixtures/parent.ts", import.meta.url))
  const parent = spawn(process.execPath, [...typescript, program])
  const [printed] = (await once(parent.stdout, "data")) as [Buffer]
  const pid = Number(printed.toString())
  expect(isAlive(pid)).toBe(true)
  parent.kill("SIGKILL")
  expect(await waitUntil(() => !isAlive(pid), patienceMs / 1000)).toBe(true)
})

it("a wrong answer ends the bench with status 3 and is reported in one line", async () => {
  let lookups = 0
  const server = createServer((request, response) => {
    // Before the measurement the bench looks up 10,000 ids once each, and expects that none is registered.
    const isPrepared = request.url !== "/health" && ++lookups > 10_000
    response.statusCode = request.url === "/health" || isPrepared ? 200 : 404
    response.end('{"status":true,"result":[]}')
  }).listen(0, "127.0.0.1")
  cleanUp(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const args = ["--url", `http://127.0.0.1:${port}`, "--scenario", "lookup-miss", "--runs", "1"]
  const command = promisify(execFile)(process.execPath, [...typescript, "bench/run.ts", ...args])
  await expect(command).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringMatching(
      /^bench: wrong answer from service in lookup-miss: lookup of id \d+ returned \{"status":true,"result":\[\]\}/m,
    ),
  })
})
