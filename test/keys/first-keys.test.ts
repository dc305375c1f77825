import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { Parties } from "../../src/accounts/party-store.ts"
import { UserAdmin } from "../../src/accounts/user-admin-store.ts"
import { makeGiveMissingKeys } from "../../src/keys/missing-keys.ts"
import { login, register, someEmail } from "../accounts/person.ts"
import { serve } from "../fixtures/service.ts"

const service = await serve()
const admin = await service.user({ role: "Admin" })
const custodialKeys = (userId: string) =>
  service.sql`select pubkey from pubkey where user_id = ${userId} and sealed_key is not null`

describe("an account gets exactly one custodial key", () => {
  it("when it is invited, and keeps it when the invited person registers", async () => {
    const email = someEmail()
    const invite = Parties.use((parties) => parties.invite(email))
    const { id } = await service.runtime.runPromise(invite)
    const [key] = await custodialKeys(id)
    expect(key).toBeDefined()
    expect((await service.runtime.runPromise(invite)).id).toBe(id)
    const registered = await service.call("POST", "/users", { body: { email } })
    expect(registered.status).toBe(200)
    expect(await custodialKeys(id)).toEqual([key])
  })

  it("when an operator creates it", async () => {
    const facts = { email: someEmail(), role: "User", passwordHash: "none" } as const
    const id = await service.runtime.runPromise(UserAdmin.use((users) => users.create(facts)))
    expect(await custodialKeys(id)).toHaveLength(1)
  })

  it("when the service creates the admin of ADMIN_EMAIL, also if it starts twice", async () => {
    const settings = { ADMIN_EMAIL: "root@example.com", ADMIN_PASSWORD: "a long admin password" }
    for (let starts = 0; starts < 2; starts++) {
      const started = await serve(settings, { database: service.database, preparesData: true })
      await started.stop()
    }
    const { body } = await login(service, settings.ADMIN_EMAIL, settings.ADMIN_PASSWORD)
    const { body: shown } = await service.call("GET", "/account", { token: body.access_token })
    expect(shown.pubkeys).toHaveLength(1)
  })
})

describe("accounts that release 0.2 created without a key", () => {
  const keyless = async () => {
    const user = await service.user()
    expect(await custodialKeys(user.id)).toEqual([])
    return user
  }
  const shownKeys = async (token: string) =>
    (await service.call("GET", "/account", { token })).body.pubkeys as ReadonlyArray<string>

  it("get one key each from housekeeping, also if two processes give it at the same time", async () => {
    const users = await Promise.all(Array.from({ length: 5 }, keyless))
    expect(await shownKeys(users[0]!.token)).toEqual([])
    const giveKeys = Effect.flatten(makeGiveMissingKeys)
    await service.runtime.runPromise(Effect.all([giveKeys, giveKeys], { concurrency: 2 }))
    for (const { token } of users) expect(await shownKeys(token)).toHaveLength(1)
  })

  it("get their key in the next run if they were created after the first one", async () => {
    const giveKeys = await service.runtime.runPromise(makeGiveMissingKeys)
    await service.runtime.runPromise(giveKeys)
    const later = await keyless()
    await service.runtime.runPromise(giveKeys)
    expect(await custodialKeys(later.id)).toHaveLength(1)
  })

  it("do not get a second key if they have one, and no key after they were deleted", async () => {
    const [kept, gone] = [await register(service), await register(service)]
    const [key] = await custodialKeys(kept.id)
    await service.call("DELETE", `/users/${gone.id}`, { token: admin.token })
    await service.runtime.runPromise(Effect.flatten(makeGiveMissingKeys))
    expect(await custodialKeys(kept.id)).toEqual([key])
    expect(await custodialKeys(gone.id)).toEqual([])
  })
})
