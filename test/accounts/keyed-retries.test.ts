import { randomUUID } from "node:crypto"
import { beforeAll, describe, expect, it } from "vitest"
import { serve, type TestService } from "../fixtures/service.ts"
import { authorizationCode, formRequest, withSms } from "../http/keyed-routes/account-requests.ts"
import { type KeyedRequest, repeatAfterLoss } from "../http/keyed-routes/keyed-request.ts"
import { confirmedUser, newPassword, resetToken } from "../security/findings/reset-link.ts"
import { login, mails, newestLink, password, register, someEmail, totpCode, turnOnTotp } from "./person.ts"

let service: TestService
beforeAll(async () => {
  service = await serve()
})

const post = (path: string, body: unknown, token?: string): KeyedRequest => ({
  method: "POST",
  path,
  options: { body, ...(token === undefined ? {} : { token }) },
})
const keyed = ({ method, options, path }: KeyedRequest) => {
  const headers = { ...options.headers, "idempotency-key": randomUUID() }
  return () => service.call(method, path, { ...options, headers })
}
const account = (token: string) => service.call("GET", "/account", { token })
const sessionsOf = (userId: string) =>
  service.sql`select id, status from entity where kind = 'session' and owner_id = ${userId} order by created_at`

/** Makes the database reject new states of sessions, but not their end, while `run` runs, as if the process had died before them. */
const withoutSessions = async <A>(run: () => Promise<A>): Promise<A> => {
  await service.sql.unsafe(
    `create or replace function refuse_session() returns trigger language plpgsql as $$
       begin raise exception using errcode = '57014', message = 'no session'; end $$;
     create or replace trigger refuse_session before insert or update on entity
       for each row when (new.kind = 'session' and new.status <> 'Revoked') execute function refuse_session()`,
  )
  try {
    return await run()
  } finally {
    await service.sql.unsafe("drop trigger refuse_session on entity")
  }
}

describe("a retry of a request whose first response was lost", () => {
  it("gets working tokens, and a refresh with them works", async () => {
    const { refresh } = await register(service)
    const { body } = await repeatAfterLoss(service, post("/auth/token/refresh", { refresh_token: refresh }))
    expect((await account(body.access_token)).status).toBe(200)
    const next = await service.call("POST", "/auth/token/refresh", {
      body: { refresh_token: body.refresh_token },
    })
    expect(next.status).toBe(200)
  })

  it("sends no second SMS when a login requires a code", async () => {
    const { email, phone } = await withSms(service)
    const before = (await mails(service, phone)).length
    await repeatAfterLoss(service, post("/auth/token", { email, password }))
    expect((await mails(service, phone)).length).toBe(before + 1)
  })

  it("sends no second SMS when a new password requires a code", async () => {
    const { email, id, phone } = await withSms(service)
    await service.sql`update app_user set email_verified_at = now() where id = ${id}`
    const token = await resetToken(service, email)
    const before = (await mails(service, phone)).length
    const body = { token, password: newPassword }
    const answer = await repeatAfterLoss(service, post("/auth/password_reset/confirm", body))
    expect(answer.body.requires_2fa).toBe("SMS")
    expect((await mails(service, phone)).length).toBe(before + 1)
  })

  it("is answered when administrators ended their own sessions by it", async () => {
    const admin = await register(service)
    await service.sql`update app_user set role = 'Admin' where id = ${admin.id}`
    const { access_token: token } = (await login(service, admin.email)).body
    const body = { password: newPassword, current_password: password }
    const path = `/users/${admin.id}`
    await repeatAfterLoss(service, { method: "PATCH", path, options: { token, body } })
    expect((await account(token)).status).toBe(401)
    expect((await login(service, admin.email, newPassword)).status).toBe(200)
  })

  it("is answered when administrators took away their own permission by it", async () => {
    const admin = await register(service)
    await service.sql`update app_user set role = 'Admin' where id = ${admin.id}`
    const { access_token: token } = (await login(service, admin.email)).body
    const path = `/users/${admin.id}`
    const body = { role: "User" }
    await repeatAfterLoss(service, { method: "PATCH", path, options: { token, body } })
    const again = await service.call("PATCH", path, { token, body, headers: { "idempotency-key": "new" } })
    expect(again.status).toBe(403)
  })

  it("returns the same tokens of an OAuth client that refreshes them", async () => {
    const { credentials, form, userId } = await authorizationCode(service)
    const { method, options, path } = formRequest("/token", form)
    const { body } = await service.call(method, path, options)
    const answer = await repeatAfterLoss(
      service,
      formRequest("/token", {
        grant_type: "refresh_token",
        refresh_token: body.refresh_token,
        ...credentials,
      }),
    )
    expect(answer.body.refresh_token).not.toBe(body.refresh_token)
    const [grant] =
      await service.sql`select generation, revoked_at from oauth_grant where user_id = ${userId}`
    expect(grant).toEqual({ generation: 2, revoked_at: null })
  })
})

describe("a retry of a request that was interrupted before it opened a session", () => {
  it("opens the session of the registered user", async () => {
    const email = someEmail()
    const send = keyed(post("/users", { email, password }))
    expect((await withoutSessions(send)).status).toBe(503)
    const [user] = await service.sql`select id from app_user where email = ${email}`
    expect(await sessionsOf(user!["id"])).toEqual([])
    const answer = await send()
    expect(answer.status).toBe(200)
    expect((await account(answer.body.access_token)).body.user.id).toBe(user!["id"])
    expect(await sessionsOf(user!["id"])).toMatchObject([{ status: "Verified" }])
    expect((await mails(service, email)).length).toBe(1)
  })

  it("opens the session of the user of a mailed link that was used", async () => {
    const user = await service.user()
    await service.call("POST", "/auth/magic_link", { body: { email: user.email } })
    const send = keyed(post("/auth/magic_link/consume", { token: await newestLink(service, user.email) }))
    expect((await withoutSessions(send)).status).toBe(503)
    const answer = await send()
    expect(answer.status).toBe(200)
    expect((await account(answer.body.access_token)).body.user.id).toBe(user.id)
    expect(await sessionsOf(user.id)).toMatchObject([{ status: "Verified" }])
  })

  it("opens no session if the user has logged out in the meantime", async () => {
    const person = await confirmedUser(service)
    const token = await resetToken(service, person.email)
    const send = keyed(post("/auth/password_reset/confirm", { token, password: newPassword }))
    expect((await withoutSessions(send)).status).toBe(503)
    const { access_token } = (await login(service, person.email, newPassword)).body
    expect((await service.call("POST", "/logout", { token: access_token })).status).toBe(200)
    const answer = await send()
    expect(answer.status).toBe(200)
    expect((await account(answer.body.access_token)).status).toBe(401)
    const body = { refresh_token: answer.body.refresh_token }
    expect((await service.call("POST", "/auth/token/refresh", { body })).status).toBe(401)
  })

  it("accepts the two-factor code that it has used up", async () => {
    const { email, token } = await register(service)
    const { secret } = await turnOnTotp(service, token)
    const { refresh_token } = (await login(service, email)).body
    const send = keyed(post("/auth/2fa", { refresh_token, code: totpCode(secret) }))
    expect((await withoutSessions(send)).status).toBe(503)
    const answer = await send()
    expect(answer.status).toBe(200)
    expect((await account(answer.body.access_token)).status).toBe(200)
  })
})

describe("a retry of a request that was refused", () => {
  const pending = async () => {
    const { email, id, token } = await register(service)
    const { secret } = await turnOnTotp(service, token)
    const right = new Set([-1, 0, 1].map((steps) => totpCode(secret, steps)))
    const wrong = ["000000", "111111", "222222", "333333"].find((code) => !right.has(code))
    const { refresh_token } = (await login(service, email)).body
    const count = async () => {
      const [row] = await service.sql`select wrong_codes from two_factor_failure where user_id = ${id}`
      return row?.["wrong_codes"]
    }
    return { count, email, id, secret, wrong: post("/auth/2fa", { refresh_token, code: wrong }) }
  }

  it("does not count a wrong two-factor code again, also not the one that locked the account", async () => {
    const { count, wrong } = await pending()
    for (let entered = 1; entered <= 5; entered++) {
      const send = keyed(wrong)
      const answers = [await send(), await send()]
      expect(answers.map(({ body, status }) => [status, body.error])).toEqual(
        Array(2).fill([401, "The code is wrong."]),
      )
      expect(await count()).toBe(entered)
    }
    expect((await keyed(wrong)()).status).toBe(429)
  })

  it("checks the code again when the lock of the account has ended", async () => {
    const { email, id, secret, wrong } = await pending()
    for (let entered = 1; entered <= 5; entered++) await keyed(wrong)()
    const { refresh_token } = (await login(service, email)).body
    const send = keyed(post("/auth/2fa", { refresh_token, code: totpCode(secret) }))
    expect((await send()).status).toBe(429)
    await service.sql`update two_factor_failure set locked_until = now() where user_id = ${id}`
    expect((await send()).status).toBe(200)
  })

  it("does not count a wrong backup code again", async () => {
    const { count, email } = await pending()
    const { access_token } = (await login(service, email)).body
    const body = { backup_code: "0000-0000", disable_all: true }
    const send = keyed(post("/account/2fa/backup_disable", body, access_token))
    const statuses = [(await send()).status, (await send()).status]
    expect([statuses, await count()]).toEqual([[422, 422], 1])
  })

  it("gets the same refusal when a refresh token was used twice", async () => {
    const { id, refresh, sessionId } = await register(service)
    const rotate = (refresh_token: string) =>
      service.call("POST", "/auth/token/refresh", { body: { refresh_token } })
    const { refresh_token } = (await rotate(refresh)).body
    await rotate(refresh_token)
    const send = keyed(post("/auth/token/refresh", { refresh_token: refresh }))
    const [first, second] = [await send(), await send()]
    expect([first.status, second.status, second.body.error]).toEqual([401, 401, first.body.error])
    expect(await sessionsOf(id)).toEqual([{ id: sessionId, status: "Revoked" }])
  })
})
