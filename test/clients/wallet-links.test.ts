import { beforeAll, describe, expect, it } from "vitest"
import {
  bitcoin,
  type DirectoryService,
  otherBitcoin,
  serveDirectory,
} from "../directory/directory-service.ts"
import { exchange } from "../fixtures/raw-http.ts"
import { freshId } from "../orders/shopper.ts"
import { addressJson, makePartner, makeWalletUser } from "../partners/partner.ts"
import { locationOf, makeVisitor } from "../sign-in/oauth/application.ts"

const path = "/partner/octo"
const ethereum = "108dEFa0272dC118EF03a7993e4fC7A8AcF3a3d1"
const standard =
  "4AdUndXHHZ6cfufTMvppY6JwXNouMBzSkbLYfpAV5Usx3skxNgYeYTRj5UzqtReoS44qo9mtmXCqY45DJ852K5Jv2684Rge"

let service: DirectoryService
beforeAll(async () => {
  service = await serveDirectory()
  await makePartner(service)
})

let devices = 0
/** Follows the link of a wallet whose user has an id, connects the id, and returns what the id then has. */
const connect = async (query: string) => {
  const user = await makeWalletUser(service, `device-${++devices}`)
  const id = freshId()
  await service.register(id, user)
  const visitor = makeVisitor(service)
  const entered = await visitor.get(`${path}/link-email?${query}&refresh_token=${user.refresh}`)
  expect([entered.status, entered.headers.get("location")]).toEqual([303, `${path}/link-email`])
  const page = await visitor.get(`${path}/link-email`)
  expect(page.status).toBe(200)
  const done = await visitor.submit(page, { action: "connect", emoji_id: id })
  expect(locationOf(done).searchParams.get("eid")).toBe(id)
  const { body } = await service.call("GET", `/emoji_id/${encodeURIComponent(id)}/payment`)
  return body.result as Record<string, { address: string; description?: string }>
}

describe("the link of a mobile wallet", () => {
  it.each([
    ["percent-encoded", `0x1003%3D${bitcoin}%7C0x1004%3D${ethereum}`],
    ["with `=` as it is and an encoded bar", `0x1003=${bitcoin}%7C0x1004=${ethereum}`],
    ["with `=` and the bar as they are", `0x1003=${bitcoin}|0x1004=${ethereum}`],
  ])("writes both addresses that it has %s", async (_how, addresses) => {
    const found = await connect(`addresses=${addresses}`)
    expect(found["0x1003"]?.address).toBe(bitcoin)
    expect(found["0x1004"]?.address).toBe(`0x${ethereum}`)
  })

  it("is accepted with a bar that no client library encodes or changes", async () => {
    const text = `GET ${path}?addresses=0x1003=${bitcoin}|0x1004=${ethereum} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
    const answer = await exchange(Number(new URL(service.url).port), text)
    expect(answer).toMatch(/^HTTP\/1\.1 303/)
  })

  it("with every address that the wallet has used writes the last one", async () => {
    const used = Array.from({ length: 120 }, (_, i) => `0x1010%3Dbnb1unused${i}`)
    const found = await connect(`addresses=${[...used, `0x1003%3D${bitcoin}`].join("%7C")}`)
    expect(found["0x1010"]?.address).toBe("bnb1unused119")
    expect(found["0x1003"]?.address).toBe(bitcoin)
  })

  it("writes an address and the name of the wallet from Base64 that is not percent-encoded", async () => {
    const name = "Caf\u00e9 >>> ??? ~~~"
    const sent = addressJson([{ "0x1003": `${otherBitcoin}|${name}` }])
    expect(sent).toMatch(/[+/]/)
    const found = await connect(`address_json=${sent}`)
    expect(found["0x1003"]).toMatchObject({ address: otherBitcoin, description: name })
  })

  it("may have the standard address of a privacy coin under the tag of its subaddresses", async () => {
    const found = await connect(`address_json=${addressJson([{ "0x1002": `${standard}|main` }])}`)
    expect(found["0x1002"]?.address).toBe(standard)
  })
})

describe("the link of a wallet without a refresh token", () => {
  it.each(["", "/link-email", "/manage"])("leads to the login page of the flow %j", async (flow) => {
    const visitor = makeVisitor(service)
    const entered = await visitor.get(`${path}${flow}?addresses=0x1001%3D${standard}`)
    expect([entered.status, entered.headers.get("location")]).toEqual([303, `${path}${flow}`])
    expect((await visitor.get(`${path}${flow}`)).text).toContain("Your email address")
  })

  it("opens the page to get an id if a tag is the name of a parameter", async () => {
    const page = await makeVisitor(service).get(`${path}?0x1001=${standard}`)
    expect([page.status, page.text.includes("Your email address")]).toEqual([200, true])
  })
})
