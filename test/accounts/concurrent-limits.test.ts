import { ed25519 } from "@noble/curves/ed25519.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { expect, it } from "vitest"
import { signEthMessage } from "../../src/keys/eth-message.ts"
import { type Answer, serve } from "../fixtures/service.ts"
import { roomy, waiting } from "../fixtures/waiting.ts"

/** Most of these tests send two concurrent requests when a limit allows only one more item for a user or a code. */
const service = await serve(roomy)

/**
 * Locks the row of the user or code until both requests wait for the lock, so that they run concurrently. Returns the
 * statuses of the responses in ascending order.
 */
const together = async (id: string, send: () => Promise<Answer>, table = "app_user") => {
  let sent: ReadonlyArray<Promise<Answer>> = []
  await service.sql.begin(async (sql) => {
    await sql`select 1 from ${sql(table)} where id = ${id} for update`
    sent = [send(), send()]
    await expect.poll(() => waiting(service)).toHaveLength(2)
  })
  return (await Promise.all(sent)).map(({ status }) => status).sort()
}

it("if the limit allows only one more API key, only one of two concurrent requests creates a key", async () => {
  const user = await service.user()
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes)
                    select 'full-' || n, ${user.id}, 'one of many', '', '{}' from generate_series(1, 49) n`
  const make = () => service.call("POST", "/api_keys", { token: user.token, body: { name: "the last" } })
  expect(await together(user.id, make)).toEqual([200, 422])
  expect((await service.call("GET", "/api_keys", { token: user.token })).body).toHaveLength(50)
})

it("if the user has the maximum number of API keys, a new key replaces an expired key, or is rejected if no key has expired", async () => {
  const user = await service.user()
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes, expires_at)
                    select 'over-' || n, ${user.id}, 'of a while ago', '', '{}', now() - make_interval(hours => n)
                      from generate_series(1, 2) n`
  await service.sql`insert into api_key (id, user_id, name, secret_hash, scopes)
                    select 'kept-' || n, ${user.id}, 'one of many', '', '{}' from generate_series(1, 48) n`
  const make = async () =>
    (await service.call("POST", "/api_keys", { token: user.token, body: { name: "another" } })).status
  const over = async () =>
    (await service.call("GET", "/api_keys", { token: user.token })).body
      .map(({ id }: { id: string }) => id)
      .filter((id: string) => id.startsWith("over-"))
  expect([await make(), await over()]).toEqual([200, ["over-1"]])
  expect([await make(), await over()]).toEqual([200, []])
  expect(await make()).toBe(422)
  expect((await service.call("GET", "/api_keys", { token: user.token })).body).toHaveLength(50)
})

it("if the limit allows only one more pubkey, only one of two concurrent requests generates a pubkey", async () => {
  const user = await service.user()
  await service.sql`insert into pubkey (pubkey, user_id) select 'full-' || n, ${user.id} from generate_series(1, 199) n`
  const generate = () => service.call("POST", "/pubkeys", { token: user.token })
  expect(await together(user.id, generate)).toEqual([200, 422])
  expect((await service.call("GET", "/pubkeys", { token: user.token })).body).toHaveLength(200)
})

it("if the limit allows only one more wallet, only one of two concurrent requests links a wallet", async () => {
  const user = await service.user()
  await service.sql`insert into wallet (user_id, eth_address, source)
                    select ${user.id}, 'full-' || n, 'Mint' from generate_series(1, 99) n`
  const { body } = await service.call("GET", "/wallets/challenge?source=Mint", { token: user.token })
  const link = () => {
    const signature = signEthMessage(Buffer.from(body.message), secp256k1.keygen().secretKey)
    return service.call("POST", "/wallets", { token: user.token, body: { signature, source: "Mint" } })
  }
  expect(await together(user.id, link)).toEqual([200, 422])
  expect((await service.call("GET", "/wallets", { token: user.token })).body).toHaveLength(100)
})

it("if only one more interest is allowed, only one of two concurrent requests registers an interest", async () => {
  const user = await service.user()
  await service.sql`insert into user_interest (user_id, canonical)
                    select ${user.id}, 'full-' || n from generate_series(1, 999) n`
  const wanted = ["🐙🎈🎲", "🎲🎈🐙"]
  const register = () =>
    service.call("POST", "/user_interests", { token: user.token, body: { emoji_id: wanted.pop() } })
  expect(await together(user.id, register)).toEqual([200, 422])
  const { body } = await service.call("GET", "/user_interests", { token: user.token })
  expect(body.paging.total).toBe(1000)
})

it("if a code can have only one more pubkey, only one of two concurrent requests adds a pubkey", async () => {
  const admin = await service.user({ role: "Admin" })
  const { body: code } = await service.call("POST", "/codes", {
    token: admin.token,
    body: { name: "drawn", code_type: "RandomYat" },
  })
  await service.sql`insert into code_pubkey (code_id, pubkey)
                    select ${code.id}, 'full-' || n from generate_series(1, 99) n`
  const add = () => {
    const pubkey = Buffer.from(ed25519.keygen().publicKey).toString("hex")
    return service.call("POST", `/codes/${code.id}/pubkeys/${pubkey}?kind=ed25519`, { token: admin.token })
  }
  expect(await together(code.id, add, "code")).toEqual([200, 422])
  const [row] = await service.sql`select count(*)::int as keys from code_pubkey where code_id = ${code.id}`
  expect(row?.["keys"]).toBe(100)
})
