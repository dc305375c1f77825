import { expect, it } from "vitest"
import { createClient, NetworkError } from "../../src/client/client.ts"
import { password, register, totpCode, turnOnTotp } from "../accounts/person.ts"
import { serve } from "../fixtures/service.ts"
import { passGrace } from "./pass-grace.ts"

// With `peersPossible`, the service notices changes that the test makes in the database.
const service = await serve({}, { peersPossible: true })

/** A user with two-factor login, and a client. The client gets no response to the first code if `losesAnswer` is set. */
const newPerson = async ({ losesAnswer = false, onCodeRequired = async () => {} }) => {
  const { email, id, refresh, token } = await register(service)
  const { secret } = await turnOnTotp(service, token)
  let accessToken = ""
  let isLost = !losesAnswer
  const client = createClient({
    baseUrl: service.url,
    retries: 0,
    onTokens: (tokens) => {
      accessToken = tokens?.accessToken ?? ""
    },
    onCodeRequired,
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (isLost || !String(input).endsWith("/auth/2fa")) return response
      isLost = true
      throw new TypeError("fetch failed")
    },
  })
  const code = (steps = 0) => totpCode(secret, steps)
  return { client, code, email, id, refresh, passGrace: () => passGrace(service, accessToken) }
}

type Person = Awaited<ReturnType<typeof newPerson>>

it.each([
  ["enters the code again", ({ client, code }: Person) => client.enterCode(code())],
  ["enters the next code", ({ client, code }: Person) => client.enterCode(code(1))],
  ["renews the token", ({ client }: Person) => client.renew()],
])("a user who got no response to a two-factor code is logged in when the user %s", async (_how, act) => {
  const person = await newPerson({ losesAnswer: true })
  const { client, code, email } = person
  expect(await client.logIn({ email, password })).toEqual({ requires2fa: "AuthenticatorApp" })
  await expect(client.enterCode(code())).rejects.toBeInstanceOf(NetworkError)
  // After this, the service rejects a second use of the refresh token.
  await person.passGrace()
  await act(person)
  expect((await client.call("GET /account")).user.email).toBe(email)
})

it("a call that needs a new two-factor code is repeated after `onCodeRequired`, or fails with its error", async () => {
  let asked = 0
  const person: Person = await newPerson({
    onCodeRequired: async () => {
      if (asked++ === 0) throw new Error("cancelled by the user")
      await person.client.enterCode(person.code())
    },
  })
  const { client, id, refresh } = person
  const renewed = await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
  client.useLogin(renewed.body)
  await service.sql`update entity set version = version + 1, state = jsonb_set(state, '{context,verifiedAt}', '1')
    where kind = 'session' and owner_id = ${id}`
  const create = () => client.call("POST /api_keys", { body: { name: "shop", scopes: [] } })
  await expect(create()).rejects.toThrow("cancelled by the user")
  expect((await create()).name).toBe("shop")
  expect(asked).toBe(2)
})
