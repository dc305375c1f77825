import { describe, expect, it } from "vitest"
import { serve } from "../../fixtures/service.ts"
import { login, register, turnOnTotp } from "../person.ts"

const service = await serve()
const shown = async (token: string) => {
  const { user } = (await service.call("GET", "/account", { token })).body
  return { at: user.two_factor_last_prompted_at as string | undefined, should: user.two_factor_should_prompt }
}
/** Changes the time of the last prompt without the service, and logs in again. */
const promptedAgo = async (id: string, email: string, age: string) => {
  const [row] = await service.sql<[{ at: Date }]>`
    update app_user set two_factor_last_prompted_at = now() - ${age}::text::interval where id = ${id}
    returning two_factor_last_prompted_at as at`
  const { body } = await login(service, email)
  return { token: body.access_token as string, before: row.at }
}

describe("the prompt to enable two-factor authentication", () => {
  it("is recorded at registration, and is due on that day", async () => {
    const { token } = await register(service)
    expect(await shown(token)).toEqual({ at: expect.stringMatching(/^\d{4}-.*Z$/), should: true })
  })

  it("is not due again for 30 days after its day", async () => {
    const { email, id } = await register(service)
    const { before, token } = await promptedAgo(id, email, "2 days")
    expect(await shown(token)).toEqual({ at: new Date(before).toISOString(), should: false })
  })

  it("is due and recorded again at the first login after 30 days", async () => {
    const { email, id } = await register(service)
    const { before, token } = await promptedAgo(id, email, "31 days")
    const { at = "", should } = await shown(token)
    expect(should).toBe(true)
    expect(Date.parse(at)).toBeGreaterThan(new Date(before).getTime())
  })

  it("is recorded by a refresh of tokens too, for clients that never log in again", async () => {
    const { id, refresh, token } = await register(service)
    await service.sql`update app_user set two_factor_last_prompted_at = null where id = ${id}`
    await service.call("POST", "/auth/token/refresh", { body: { refresh_token: refresh } })
    expect(await shown(token)).toEqual({ at: expect.any(String), should: true })
  })

  it("is neither due nor recorded for a user with two-factor authentication", async () => {
    const { email, id, token } = await register(service)
    await turnOnTotp(service, token)
    const { before } = await promptedAgo(id, email, "31 days")
    expect(await shown(token)).toEqual({ at: expect.any(String), should: false })
    const [row] = await service.sql`select two_factor_last_prompted_at as at from app_user where id = ${id}`
    expect(row!["at"]).toEqual(before)
  })
})
