import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { installClient } from "../client/install-client.ts"
import { ethereum, serveDirectory } from "../directory/directory-service.ts"
import { cleanUp } from "../fixtures/suite/clean-up.ts"

const bitcoin = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"
const other = "0x52908400098527886E0F7030069857D2E4169EE7"
const decode = (text: string) =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")

it("the program of the quickstart needs only the client that the service serves, has less than thirty lines, prints the address, and prints every change of it", async () => {
  const service = await serveDirectory()
  const owner = await service.user()
  await service.register("🚀🌊🔥", owner)
  await service.edit("🚀🌊🔥", owner, { insert: [{ tag: "0x1004", data: ethereum }] })
  const { text } = await service.call("GET", "/docs")
  const source = decode(/wallet\.mjs<\/figcaption><pre[^>]*><code>([\s\S]*?)<\/code>/.exec(text)?.[1] ?? "")
  expect(source.split("\n").length).toBeLessThan(30)
  const base = /baseUrl: "([^"]*)"/.exec(source)?.[1] ?? ""
  expect(text).toContain("/client.tgz")
  const folder = mkdtempSync(join(tmpdir(), "docs-program-"))
  await installClient(service, folder)
  const file = join(folder, "wallet.mjs")
  writeFileSync(file, source.replace(base, service.url))
  // Node 22 and newer have a WebSocket without this option.
  const options = typeof WebSocket === "undefined" ? ["--experimental-websocket"] : []
  const program = spawn(process.execPath, [...options, file, "🚀🌊🔥", "USDC", "ethereum"])
  cleanUp(() => program.kill("SIGKILL"))
  const lines: Array<string> = []
  program.stdout.on("data", (chunk: Buffer) => lines.push(...chunk.toString().trim().split("\n")))
  await expect.poll(() => lines).toEqual([`send to ${ethereum}`])
  await service.edit("🚀🌊🔥", owner, { insert: [{ tag: "0x1004", data: other }] })
  await expect.poll(() => lines.at(-1)).toBe(`send to ${other}`)
  await service.edit("🚀🌊🔥", owner, {
    delete: (await service.lookup("🚀🌊🔥")).body.result.map(({ hash }: { hash: string }) => hash),
  })
  await expect.poll(() => lines.at(-1)).toMatch(/^do not send: no_address: /)

  await service.edit("🚀🌊🔥", owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
  const ofBitcoin = spawn(process.execPath, [...options, file, "🚀🌊🔥", "BTC"])
  cleanUp(() => ofBitcoin.kill("SIGKILL"))
  const [chunk] = (await once(ofBitcoin.stdout, "data")) as [Buffer]
  expect(chunk.toString().split("\n")[0]).toBe(`send to ${bitcoin}`)
})

it("the client is served with its type and an ETag, and is not sent again while it is unchanged", async () => {
  const service = await serveDirectory()
  const first = await fetch(`${service.url}/client.tgz`)
  expect([first.status, first.headers.get("content-type")]).toEqual([200, "application/gzip"])
  expect((await first.arrayBuffer()).byteLength).toBeLessThan(100_000)
  const headers = { "if-none-match": first.headers.get("etag") ?? "" }
  expect((await fetch(`${service.url}/client.tgz`, { headers })).status).toBe(304)
})
