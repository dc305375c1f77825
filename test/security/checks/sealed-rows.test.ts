import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { CustodialKeys } from "../../../src/crypto/custodial-keys.ts"
import { login, mails, password, register, totpCode, turnOnTotp } from "../../accounts/person.ts"
import { serve } from "../../fixtures/service.ts"

/**
 * A person who can write to the database, but does not have the master key, copies encrypted values between rows. The
 * owner of a value is part of the encryption (additional authenticated data), so a copied value cannot be decrypted.
 */

const service = await serve()
const { sql } = service

const guarded = async () => {
  const person = await register(service)
  return { ...person, ...(await turnOnTotp(service, person.token)) }
}
const answer = async (email: string, code: string) => {
  const { refresh_token } = (await login(service, email, password)).body
  return (await service.call("POST", "/auth/2fa", { body: { refresh_token, code } })).status
}

describe("an encrypted value that was copied to the row of another user", () => {
  it("does not let the attacker's authenticator app pass the victim's second factor", async () => {
    const [victim, attacker] = [await guarded(), await guarded()]
    expect(await answer(attacker.email, totpCode(attacker.secret))).toBe(200)
    const copied = await sql`
      update two_factor set sealed_secret = (select sealed_secret from two_factor where user_id = ${attacker.id})
       where user_id = ${victim.id} returning 1`
    expect(copied).toHaveLength(1)
    expect(await answer(victim.email, totpCode(attacker.secret, -1))).toBe(401)
    expect(await answer(victim.email, totpCode(attacker.secret))).toBe(401)
  })

  it("does not send the victim's SMS codes to the attacker's phone", async () => {
    const phones = ["+14155550101", "+14155550102"] as const
    const people = await Promise.all(
      phones.map(async (phone) => {
        const person = await register(service)
        const body = { default: true, provider: "SMS", phone }
        await service.call("POST", "/account/2fa/enable", { token: person.token, body })
        const code = (await mails(service, phone))[0]?.code
        await service.call("POST", "/account/2fa/confirm", { token: person.token, body: { code } })
        return person
      }),
    )
    const [victim, attacker] = [people[0]!, people[1]!]
    await sql`update two_factor set sealed_phone = (select sealed_phone from two_factor where user_id = ${attacker.id})
               where user_id = ${victim.id}`
    const before = await mails(service, phones[1])
    const sent = await service.call("POST", "/account/2fa/sms_code", { token: victim.token })
    expect(sent.status).toBe(422)
    expect(await mails(service, phones[1])).toEqual(before)
  })

  it("does not sign with a custodial key that was copied to another pubkey", async () => {
    const people = [await service.user(), await service.user()]
    const [mine, theirs] = await Promise.all(
      people.map(async ({ token }) => (await service.call("POST", "/pubkeys", { token })).body as string),
    )
    const sealedOf = async (pubkey: string) =>
      (await sql<{ sealed_key: string }[]>`select sealed_key from pubkey where pubkey = ${pubkey}`)[0]!
        .sealed_key
    const signWith = (pubkey: string, sealedKey: string) =>
      service.runtime.runPromise(
        Effect.result(
          CustodialKeys.use((keys) => keys.sign({ pubkey, sealedKey } as never, Buffer.from("message"))),
        ),
      )
    expect((await signWith(mine!, await sealedOf(mine!)))._tag).toBe("Success")
    expect((await signWith(mine!, await sealedOf(theirs!)))._tag).toBe("Failure")
  })
})

describe("a new master key beside the old one", () => {
  const keyOf = (byte: number) => Buffer.alloc(32, byte).toString("base64url")

  it("keeps logins, second factors and custodial keys usable, and encrypts new values with itself", async () => {
    const person = await guarded()
    const rotated = await serve(
      { SECRET_KEYS: `next:${keyOf(9)},test:${keyOf(7)}` },
      { database: service.database },
    )
    expect((await rotated.call("GET", "/account", { token: person.token })).status).toBe(200)
    const { refresh_token } = (await login(rotated, person.email, password)).body
    const passed = await rotated.call("POST", "/auth/2fa", {
      body: { refresh_token, code: totpCode(person.secret) },
    })
    expect(passed.status).toBe(200)
    const { body: pubkey } = await rotated.call("POST", "/pubkeys", { token: person.token })
    const [row] = await rotated.sql`select sealed_key from pubkey where pubkey = ${pubkey}`
    expect(row?.["sealed_key"]).toMatch(/^v1\.next\./)
  })
})
