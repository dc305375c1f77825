import { beforeAll, describe, expect, it } from "vitest"
import { type DirectoryService, ethereum, serveDirectory } from "../directory/directory-service.ts"
import { send } from "./send.ts"

const id = "🦊🚀🌈"
const path = `/emoji_id/${encodeURIComponent(id)}`
const bare = "d8da6bf26964af9d7eed9e03e53415d37aa96045"
const browser = {
  Accept: "application/json, text/plain, */*",
  Origin: "https://wallet.example",
  Referer: "https://wallet.example/",
  "Sec-Fetch-Mode": "cors",
  "Sec-Fetch-Site": "cross-site",
  "User-Agent": "Mozilla/5.0",
}

let service: DirectoryService
beforeAll(async () => {
  service = await serveDirectory()
  const owner = await service.user()
  await service.register(id, owner)
  const edited = await service.edit(id, owner, {
    insert: [
      { tag: "0x1004", data: `${ethereum}|savings.example` },
      { tag: "0x6300", data: `USDC|USD Coin|ETH|${ethereum}|test|` },
    ],
  })
  expect(edited.status).toBe(200)
})

describe("a wallet that runs in a browser", () => {
  it.each(["https://wallet.example", "capacitor://localhost", "null"])(
    "may read a lookup from the origin %s",
    async (Origin) => {
      const answer = await send(service, "GET", path, { ...browser, Origin })
      expect(answer.status).toBe(200)
      expect(answer.headers["access-control-allow-origin"]).toBe("*")
    },
  )

  it.each([
    ["an id that nobody owns", `/emoji_id/${encodeURIComponent("🦊🦊🦊🦊")}`, 404],
    ["a text that is no id", "/emoji_id/name.eth", 400],
  ])("may read the error for %s", async (_what, missing, status) => {
    const answer = await send(service, "GET", missing, browser)
    expect(answer.status).toBe(status)
    expect(answer.headers["access-control-allow-origin"]).toBe("*")
    expect(answer.body).toEqual({ error: expect.any(String) })
  })

  it("reads the Ethereum address from the text before the first bar, as 40 lower-case digits", async () => {
    const { body } = await send(service, "GET", path, browser)
    expect(body.error).toBeNull()
    const { data } = body.result.find(({ tag }: { tag: string }) => tag === "0x1004")
    expect(data.split("|")[0]).toBe(bare)
  })

  it("reads the address of a token from the fourth field, with a valid checksum or without upper case", async () => {
    const { body } = await send(service, "GET", path, browser)
    const { data } = body.result.find(({ tag }: { tag: string }) => tag === "0x6300")
    const [short, , network, address] = data.split("|")
    expect([short, network]).toEqual(["USDC", "ETH"])
    expect([ethereum, ethereum.slice(2), bare, `0x${bare}`]).toContain(address)
  })

  it("may send the methods and headers of a generated client after a preflight request", async () => {
    const answer = await send(service, "OPTIONS", path, {
      ...browser,
      "Access-Control-Request-Method": "PATCH",
      "Access-Control-Request-Headers": "authorization,content-type,x-api-key",
    })
    expect(answer.status).toBe(204)
    expect(answer.headers["access-control-allow-methods"]).toContain("PATCH")
    const allowed = String(answer.headers["access-control-allow-headers"]).toLowerCase().split(", ")
    expect(allowed).toEqual(expect.arrayContaining(["authorization", "content-type", "x-api-key"]))
  })
})
