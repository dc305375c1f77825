import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"
import { phoneAad } from "../../src/accounts/two-factor/second-factors.ts"
import type { Command } from "../../src/cli/command-line/command.ts"
import { keyCommands } from "../../src/cli/keys.ts"
import { cliServices } from "../../src/cli/services.ts"
import { CustodialKeys } from "../../src/crypto/custodial-keys.ts"
import { Seal } from "../../src/crypto/envelope-encryption.ts"
import { mails, register } from "../accounts/person.ts"
import { serve, testConfig } from "../fixtures/service.ts"

const service = await serve()
const { sql } = service
const fresh = { id: "fresh", secret: Buffer.alloc(32, 9).toString("base64url") }
const former = `test:${Buffer.alloc(32, 7).toString("base64url")}`
const runtime = ManagedRuntime.make(
  cliServices(testConfig({ SECRET_KEYS: `${fresh.id}:${fresh.secret},${former}` }), service.database),
)
afterAll(() => runtime.dispose())
const command = keyCommands.find(({ name }) => name === "keys reseal") as Command
const reseal = () => runtime.runPromise(command.run({ words: [], options: {} }))

it("after `keys reseal`, the first entry of SECRET_KEYS alone opens custodial keys and second factors", async () => {
  const { id, token } = await register(service)
  const phone = "+14155550188"
  await service.call("POST", "/account/2fa", { body: { default: true, provider: "SMS", phone }, token })
  const [mail] = await mails(service, phone)
  await service.call("POST", "/account/2fa/confirm", { body: { code: mail?.code }, token })
  const [before] = await sql`select count(*)::int as count from pubkey where sealed_key is not null`

  const result = await reseal()
  expect(result).toEqual({
    custodial_keys: { resealed: before?.["count"], unreadable: 0 },
    second_factors: { resealed: 1, unreadable: 0 },
    signing_keys: { resealed: 1, unreadable: 0 },
  })
  expect(command.isFailure?.(result)).toBe(false)

  const [key] = await sql<[{ pubkey: string; sealedKey: string }]>`
    select pubkey, sealed_key as "sealedKey" from pubkey where user_id = ${id}`
  const [factor] = await sql<
    [{ sealed_phone: string }]
  >`select sealed_phone from two_factor where user_id = ${id}`
  const opened = Effect.gen(function* () {
    yield* (yield* CustodialKeys).sign(key, new Uint8Array())
    return (yield* (yield* Seal).open(factor.sealed_phone, phoneAad(id))).toString()
  })
  const onlyFresh = CustodialKeys.layer.pipe(
    Layer.provideMerge(Seal.layer({ keys: [{ id: fresh.id, secret: Redacted.make(fresh.secret) }] })),
  )
  expect(await Effect.runPromise(Effect.provide(opened, onlyFresh))).toBe(phone)

  expect(await reseal()).toEqual({
    custodial_keys: { resealed: 0, unreadable: 0 },
    second_factors: { resealed: 0, unreadable: 0 },
    signing_keys: { resealed: 0, unreadable: 0 },
  })
})

it("`keys reseal` leaves a value that it cannot decrypt as it is, and exits with 1", async () => {
  const { id } = await register(service)
  const unreadable = `v1.gone.${"A".repeat(80)}.${"A".repeat(38)}`
  await sql`update pubkey set sealed_key = ${unreadable} where user_id = ${id}`
  const result = await reseal()
  expect(result).toMatchObject({ custodial_keys: { unreadable: 1 } })
  expect(command.isFailure?.(result)).toBe(true)
  const [row] = await sql`select sealed_key from pubkey where user_id = ${id}`
  expect(row?.["sealed_key"]).toBe(unreadable)
})
