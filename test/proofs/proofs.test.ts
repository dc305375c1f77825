import { generateKeyPairSync, sign } from "node:crypto"
import { ManagedRuntime } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import type { Command } from "../../src/cli/command-line/command.ts"
import { cliServices } from "../../src/cli/services.ts"
import { signingKeyCommands } from "../../src/cli/signing-keys.ts"
import { verifyCommands } from "../../src/cli/verify.ts"
import { ApiError, createClient, ProofRefused } from "../../src/client/client.ts"
import { merkleRoot } from "../../src/directory/merkle.ts"
import { SigningKeys } from "../../src/proofs/signing-keys.ts"
import {
  bitcoin,
  type DirectoryService,
  ethereum,
  otherBitcoin,
  serveDirectory,
} from "../directory/directory-service.ts"
import { createDatabase } from "../fixtures/database.ts"
import { testConfig } from "../fixtures/service.ts"
import type { TestUser } from "../fixtures/test-service.ts"

const id = "🚀👋❤️"
const unregistered = "🌊🌊🌊"
const params = { emoji_id: "🚀👋🏽💜" }
const proof = true

let service: DirectoryService
/** Another process of the same service, with rate limits. */
let limited: DirectoryService
let owner: TestUser
beforeAll(async () => {
  const database = await createDatabase()
  ;[service, limited] = await Promise.all([
    serveDirectory({}, { database, peersPossible: true }),
    serveDirectory({ RATE_LIMIT: "on", COLD_LOOKUPS_PER_MINUTE: "10" }, { database, peersPossible: true }),
  ])
  owner = await service.user()
  await service.register(id, owner)
  await service.edit(id, owner, {
    insert: [
      { tag: "0x1003", data: `${bitcoin}|main||t` },
      { tag: "0x1004", data: ethereum },
    ],
  })
})

const pathOf = (emojiId: string, rest = "") => `/emoji_id/${encodeURIComponent(emojiId)}${rest}`
const get = (path: string, headers: Record<string, string> = {}) => service.call("GET", path, { headers })
const claimsOf = (text: string) => {
  const [header = "", body = ""] = text.split(".").map((part) => Buffer.from(part, "base64url").toString())
  return { kid: JSON.parse(header).kid, ...JSON.parse(body) }
}
const codeOf = (refused: Promise<unknown>) =>
  refused.then(
    () => "accepted",
    (error) => (error instanceof ProofRefused ? error.code : String(error)),
  )

describe("an answer with a proof", () => {
  const client = () => createClient({ baseUrl: service.url })

  it.each([
    ["a lookup", () => client().call("GET /emoji_id/{emoji_id}", { params, query: { proof } })],
    [
      "a lookup with tags",
      () => client().call("GET /emoji_id/{emoji_id}", { params, query: { proof, tags: "0x1003,0x1004" } }),
    ],
    [
      "a ticker",
      () =>
        client().call("GET /emoji_id/{emoji_id}/{tag}", {
          params: { ...params, tag: "btc" },
          query: { proof },
        }),
    ],
    [
      "payment addresses",
      () => client().call("GET /emoji_id/{emoji_id}/payment", { params, query: { proof } }),
    ],
    [
      "a resolved address",
      () =>
        client().call("GET /emoji_id/{emoji_id}/resolve", {
          params,
          query: { proof, asset: "USDC", network: "ethereum" },
        }),
    ],
  ])("is the same from the handler and from the cache, and verifies: %s", async (_, ask) => {
    const one = client()
    const first = await ask()
    const second = await ask()
    expect(second.proof).toBe(first.proof)
    expect({ ...second, stats: [] }).toEqual({ ...first, stats: [] })
    expect(claimsOf(first.proof ?? "")).toMatchObject({ emoji_id: id, registered: true, version: 2 })
    expect(await codeOf(one.verify(first))).toMatch(/not an answer of this client/)
  })

  it("verifies with the client that asked, until it is altered or an older version than one seen before", async () => {
    const one = client()
    const answer = await one.call("GET /emoji_id/{emoji_id}/resolve", {
      params,
      query: { proof, asset: "BTC" },
    })
    expect(await one.verify(answer, { atLeast: 2 })).toMatchObject({
      emojiId: id,
      registered: true,
      version: 2,
    })
    expect(await codeOf(one.verify(answer, { atLeast: 3 }))).toBe("old_version")
    expect(await codeOf(one.verify(answer, { emojiId: unregistered }))).toBe("wrong_id")
    expect(await codeOf(one.verify(answer, { now: Date.now() / 1000 + 601 }))).toBe("expired")
    Object.assign(answer, { address: otherBitcoin })
    expect(await codeOf(one.verify(answer))).toBe("altered_answer")
  })

  it("has no ETag; without `proof=true`, the answer is as before", async () => {
    const signed = await get(pathOf(id, "?proof=true"))
    expect([signed.headers.get("etag"), signed.headers.get("cache-control")]).toEqual([null, "no-cache"])
    for (const query of ["", "?proof=false"]) {
      const { body, headers } = await get(pathOf(id, query))
      expect(body).not.toHaveProperty("proof")
      expect(headers.get("etag")).toMatch(/^W\//)
      expect((await get(pathOf(id, query), { "If-None-Match": headers.get("etag")! })).status).toBe(304)
    }
    expect((await get(pathOf(id, "?%70roof=true"))).body.proof).toBeDefined()
    expect((await get(pathOf(id, "?proof=yes"))).status).toBe(400)
  })

  it("changes with the id, in every process", async () => {
    const changing = "🐙👋❤️"
    await service.register(changing, owner)
    for (const [version, tag] of [
      [2, "0x5001"],
      [3, "0x4001"],
    ] as const) {
      await service.edit(changing, owner, { insert: [{ tag, data: "https://example.com" }] })
      for (const process of [service, limited, service]) {
        const { body } = await process.call("GET", pathOf(changing, "?proof=true"))
        expect([body.version, claimsOf(body.proof).version]).toEqual([version, version])
      }
    }
  })

  it("includes the owner's signature of the root, until the records are changed without one", async () => {
    const signed = "🦊👋❤️"
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const pubkey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex")
    expect((await service.call("POST", `/pubkeys/${pubkey}`, { token: owner.token })).status).toBe(200)
    await service.register(signed, owner, pubkey)
    await service.edit(signed, owner, { insert: [{ tag: "0x1003", data: bitcoin }] })
    const [{ hash }] = (await service.lookup(signed)).body.result
    const root = merkleRoot([hash])
    const signature = sign(null, Buffer.from(root, "hex"), privateKey).toString("hex")
    expect((await service.edit(signed, owner, { merkle_root: root, signature })).status).toBe(200)
    const one = client()
    const ask = () => one.call("GET /emoji_id/{emoji_id}", { params: { emoji_id: signed }, query: { proof } })
    expect(await one.verify(await ask())).toMatchObject({ owner: pubkey, isSignedByOwner: true })
    await service.edit(signed, owner, { insert: [{ tag: "0x5001", data: "unsigned" }] })
    expect(await one.verify(await ask())).toMatchObject({ owner: pubkey, isSignedByOwner: false })
  })
})

describe("an id that is not registered", () => {
  it.each(["", "/payment", "/BTC", "/resolve?asset=BTC"])("is denied with a proof: %s", async (rest) => {
    const one = createClient({ baseUrl: service.url })
    const { body, status } = await get(
      pathOf(unregistered, `${rest}${rest.includes("?") ? "&" : "?"}proof=true`),
    )
    expect(status).toBe(404)
    const asked = { emojiId: unregistered, request: ["lookup"] }
    expect(await one.verify(body, asked)).toMatchObject({ registered: false, version: 0 })
    expect(await codeOf(one.verify(body, { ...asked, atLeast: 1 }))).toBe("old_version")
  })

  it("can be verified as the error of a call", async () => {
    const one = createClient({ baseUrl: service.url })
    const asked = { params: { emoji_id: unregistered }, query: { proof } }
    const error = await one.call("GET /emoji_id/{emoji_id}", asked).catch((thrown: unknown) => thrown)
    if (!(error instanceof ApiError)) throw error
    expect(await one.verify(error)).toMatchObject({ emojiId: unregistered, registered: false })
  })

  it("counts as a lookup that is not in the cache every time, and a stored proof does not", async () => {
    const ask = async (emojiId: string, times: number) => {
      const statuses = new Set<number>()
      for (let n = 0; n < times; n++)
        statuses.add((await limited.call("GET", pathOf(emojiId, "?proof=true"))).status)
      return [...statuses]
    }
    expect(await ask(id, 30)).toEqual([200])
    expect(await ask(unregistered, 11)).toEqual([404, 429])
    expect(await ask(id, 2)).toEqual([200])
    expect((await limited.call("GET", pathOf(unregistered))).status).toBe(404)
    // The history would be another way to try out ids.
    expect((await limited.call("GET", pathOf("🌊🌊🌊🌊", "/history"))).status).toBe(429)
    expect((await limited.call("GET", pathOf(id, "/history"))).status).toBe(200)
  })
})

describe("an id that has no address", () => {
  it.each([
    ["no_address", { asset: "LTC" }],
    ["network_required", { asset: "USDC" }],
    ["unknown_network", { asset: "BTC", network: "tron" }],
    ["unknown_asset", { asset: "NOTHING" }],
  ])("answers with an error whose proof verifies offline: %s", async (code, asked) => {
    const one = createClient({ baseUrl: service.url })
    const ask = () =>
      one
        .call("GET /emoji_id/{emoji_id}/resolve", { params, query: { proof, ...asked } })
        .catch((thrown: unknown) => thrown)
    const [first, second] = [await ask(), await ask()]
    if (!(first instanceof ApiError && second instanceof ApiError)) throw first
    expect(first.code).toBe(code)
    expect(await one.verify(first, { atLeast: 2 })).toMatchObject({ registered: true, version: 2 })
    // The id of the request is another one, and the proof is the stored one.
    expect(Object(second.body).proof).toBe(Object(first.body).proof)
    expect(await one.verify(second)).toMatchObject({ emojiId: id })
    Object.assign(Object(second.body), { code: "other" })
    expect(await codeOf(one.verify(second))).toBe("altered_answer")
    expect(await codeOf(one.verify(first, { request: ["resolve", "BTC"] }))).toBe("wrong_request")
  })
})

describe("a batch with proofs", () => {
  it("has a proof for every valid id, which the client verifies", async () => {
    const one = createClient({ baseUrl: service.url })
    const ids = { emoji_ids: ["🚀👋💙", unregistered, "x"] }
    const { result } = await one.call("POST /emoji_id/lookup", { query: { proof }, body: ids })
    expect(result.map((answer) => answer.proof !== undefined)).toEqual([true, true, false])
    expect(await one.verify(result[0]!)).toMatchObject({ emojiId: id, version: 2 })
    expect(await one.verify(result[1]!)).toMatchObject({ registered: false })
    expect(await codeOf(one.verify(result[2]!))).toBe("malformed")
    expect(await codeOf(one.verify({ ...result[0] }, { emojiId: "🐙", request: ["lookup"] }))).toBe(
      "wrong_id",
    )
    const items = [
      { emoji_id: id, asset: "BTC" },
      { emoji_id: id, asset: "SOL" },
    ]
    const resolved = await one.call("POST /emoji_id/resolve", { query: { proof }, body: { items } })
    for (const answer of resolved.result)
      expect(await one.verify(answer)).toMatchObject({ emojiId: id, version: 2 })
    expect(resolved.result.map(({ status }) => status)).toEqual([true, false])
  })
})

describe("the live state with proofs", () => {
  it("is signed in lookups and in subscriptions", async () => {
    const one = createClient({ baseUrl: service.url, WebSocket })
    for await (const found of one.records("🚀👋💙", { proof: true })) {
      expect(await one.verify(found)).toMatchObject({ emojiId: id, registered: true, version: 2 })
      break
    }
    const [denied] = await one.live.lookup([unregistered], { proof: true })
    const asked = { emojiId: unregistered, request: ["live"] }
    expect(await one.verify(denied!, asked)).toMatchObject({ registered: false })
    one.live.close()
    const socket = new WebSocket(`${service.url.replace("http", "ws")}/live`)
    const state = await new Promise<object>((resolve) => {
      socket.on("open", () => {
        socket.send(JSON.stringify({ type: "connect" }))
        socket.send(JSON.stringify({ type: "subscribe", channel: `emoji_id:${id}`, proof: true }))
      })
      socket.on("message", (text) => {
        const frame = JSON.parse(String(text))
        if (frame.type === "subscribed") resolve(frame.state)
      })
    })
    socket.close()
    expect(await one.verify(state, { emojiId: id, request: ["live"] })).toMatchObject({ version: 2 })
  })
})

describe("the command line", () => {
  const verify = async (options: Record<string, string>, emojiId = id) => {
    const printed: Array<unknown> = []
    const given = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, [value]]))
    const context = { baseUrl: service.url, print: (value: unknown) => void printed.push(value) }
    await verifyCommands[0]!.call({ words: [emojiId], options: given }, context)
    return printed
  }

  it("`verify` looks an id up and says what the proof says", async () => {
    for (const request of [
      "lookup",
      "lookup,0x1003,0x1004",
      "ticker,BTC",
      "payment",
      "resolve,USDC,ethereum",
    ])
      expect(await verify({ request })).toMatchObject([{ valid: true, registered: true, version: 2 }])
    expect(await verify({}, unregistered)).toMatchObject([{ valid: true, registered: false }])
    await expect(verify({ "at-least": "3" })).rejects.toThrow(/^old_version: /)
    await expect(verify({ request: "nonsense" })).rejects.toThrow(/^--request: /)
  })
})

describe("the signing keys", () => {
  const config = testConfig()
  let runtime: ManagedRuntime.ManagedRuntime<never, never>
  const run = async (name: string, words: ReadonlyArray<string> = [], hours?: string) => {
    const command = signingKeyCommands.find((one) => one.name === name) as Command
    const options = hours === undefined ? {} : { hours: [hours] }
    const keys = await runtime.runPromise(command.run({ words, options }) as never)
    await service.runtime.runPromise(SigningKeys.use(({ reread }) => reread))
    return keys as ReadonlyArray<{
      readonly kid: string
      readonly status: string
      readonly not_after: string | null
    }>
  }
  const published = async () =>
    (await get("/.well-known/emoji-id-directory")).body.keys.map(({ kid }: { kid: string }) => kid)
  const signerOf = async (rest: string) => claimsOf((await get(pathOf(id, rest))).body.proof).kid
  beforeAll(() => {
    runtime = ManagedRuntime.make(cliServices(config, service.database)) as never
  })
  afterAll(() => runtime.dispose())

  it("are one key after a start of two processes, published with a lifetime in the cache", async () => {
    const { body, headers } = await get("/.well-known/emoji-id-directory")
    expect(headers.get("cache-control")).toBe("public, max-age=300")
    expect(body).toMatchObject({
      proof_lifetime_seconds: 600,
      keys: [{ kty: "OKP", crv: "Ed25519", not_after: null }],
    })
    expect(body.keys).toHaveLength(1)
    const other = await limited.call("GET", "/.well-known/emoji-id-directory")
    expect(other.body.keys).toEqual(body.keys)
    expect(JSON.stringify(body)).not.toContain('"d"')
  })

  it("are published before they sign, and after their last proof; a retired key ends at once", async () => {
    const [first] = await published()
    // `signing-keys rotate`
    const [second, former] = await run("signing-keys rotate")
    expect([second?.status, former?.status]).toEqual(["signs later", "signs"])
    expect(await published()).toEqual([second?.kid, first])
    expect(await signerOf("?proof=true")).toBe(first)

    const [third] = await run("signing-keys rotate", [], "0")
    expect(third?.status).toBe("signs")
    expect(await signerOf("/ETH?proof=true")).toBe(third?.kid)
    // The stored proof of the former key is still valid.
    expect(await signerOf("?proof=true")).toBe(first)
    expect(await published()).toContain(first)

    const after = await run("signing-keys retire", [first])
    expect(after.find(({ kid }) => kid === first)?.status).toBe("ended")
    expect(await published()).not.toContain(first)
    expect(await signerOf("?proof=true")).toBe(third?.kid)
    await expect(run("signing-keys retire", [third!.kid])).rejects.toThrow(/no other key signs/)
    await expect(run("signing-keys retire", ["none"])).rejects.toThrow(/no signing key/)
    expect((await run("signing-keys list")).map(({ kid }) => kid)).toContain(third?.kid)
  })
})
