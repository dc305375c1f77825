import { randomInt, randomUUID } from "node:crypto"
import { Effect } from "effect"
import { expect } from "vitest"
import { BrowserSessions } from "../../../src/accounts/sessions/browser-sessions.ts"
import { AuthorizationCodes } from "../../../src/sign-in/oauth/authorization-codes.ts"
import { OauthClients } from "../../../src/sign-in/oauth/oauth-client-store.ts"
import {
  login,
  mails,
  newestLink,
  password,
  register,
  someEmail,
  totpCode,
  turnOnTotp,
} from "../../accounts/person.ts"
import type { TestService } from "../../fixtures/service.ts"
import { freshId } from "../../orders/shopper.ts"
import { confirmedUser, newPassword, resetToken } from "../../security/findings/reset-link.ts"
import { registerApplication } from "../../sign-in/oauth/application.ts"
import type { KeyedRequest, Prepare } from "./keyed-request.ts"

const withTotp = async (service: TestService) => {
  const person = await register(service)
  return { ...person, ...(await turnOnTotp(service, person.token)) }
}

const enable = async (service: TestService, path: string): Promise<KeyedRequest> => {
  const { token } = await register(service)
  return { method: "POST", path, options: { token, body: { default: true, provider: "AuthenticatorApp" } } }
}

const featureOfUser = async (service: TestService) => {
  const { token } = await service.user({ role: "Admin" })
  const { id: user } = await service.user()
  const { body } = await service.call("POST", "/features", { token, body: { code: `f-${randomUUID()}` } })
  return { token, feature: body.id as string, path: `/users/${user}/features/${body.id}` }
}

/** Enables two-factor login by SMS. */
export const withSms = async (service: TestService) => {
  const person = await register(service)
  const { token } = person
  const phone = `+1415${String(randomInt(1_000_000, 9_999_999))}`
  const body = { default: true, provider: "SMS", phone }
  expect((await service.call("POST", "/account/2fa/enable", { token, body })).status).toBe(200)
  const { code } = (await mails(service, phone))[0]!
  expect((await service.call("POST", "/account/2fa/confirm", { token, body: { code } })).status).toBe(200)
  return { ...person, phone }
}

export const formRequest = (path: string, form: Record<string, string>): KeyedRequest => ({
  method: "POST",
  path,
  options: {
    rawBody: new URLSearchParams(form).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  },
})

/** Registers an OAuth client and a user, and issues an authorization code. `form` exchanges it for tokens. */
export const authorizationCode = async (service: TestService) => {
  const redirectUri = "https://app.example/back"
  const { clientId, secret } = await registerApplication(service, redirectUri)
  const { id, refresh, token } = await register(service)
  const code = await service.runtime.runPromise(
    Effect.gen(function* () {
      const client = (yield* OauthClients.use((clients) => clients.find(clientId)))!
      const session = (yield* BrowserSessions.use((sessions) => sessions.find(refresh)))!
      const request = { client, redirectUri, challenge: undefined, parameters: {} } as never
      return yield* AuthorizationCodes.use((codes) => codes.issue(request, session, freshId()))
    }),
  )
  const credentials = { client_id: clientId, client_secret: secret }
  const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri, ...credentials }
  return { userId: id, token, credentials, form }
}

export const accountRequests: Record<string, Prepare> = {
  login: async (service) => {
    const { email } = await register(service)
    return { method: "POST", path: "/auth/token", options: { body: { email, password } } }
  },
  refreshToken: async (service) => {
    const { refresh } = await register(service)
    return { method: "POST", path: "/auth/token/refresh", options: { body: { refresh_token: refresh } } }
  },
  twoFactorAuthentication: async (service) => {
    const { email, token } = await register(service)
    const { secret } = await turnOnTotp(service, token)
    const { refresh_token } = (await login(service, email)).body
    const code = totpCode(secret)
    return { method: "POST", path: "/auth/2fa", options: { body: { code, refresh_token } } }
  },
  magicLinkLogin: async (service) => {
    const { email } = await service.user()
    return { method: "POST", path: "/auth/magic_link", options: { body: { email } } }
  },
  consumeMagicLink: async (service) => {
    const { email } = await service.user()
    await service.call("POST", "/auth/magic_link", { body: { email } })
    const token = await newestLink(service, email)
    return { method: "POST", path: "/auth/magic_link/consume", options: { body: { token } } }
  },
  requestPasswordReset: async (service) => {
    const { email, id } = await confirmedUser(service)
    return {
      method: "POST",
      path: "/auth/password_reset",
      options: { body: { email } },
      settled: async () => {
        const event = "password.reset_requested"
        const entries = () =>
          service.sql`select 1 from security_log where user_id = ${id} and event = ${event}`
        await expect.poll(async () => (await entries()).length).toBe(1)
      },
    }
  },
  confirmPasswordReset: async (service) => {
    const { email } = await confirmedUser(service)
    const token = await resetToken(service, email)
    const body = { token, password: newPassword }
    return { method: "POST", path: "/auth/password_reset/confirm", options: { body } }
  },
  logout: async (service) => ({
    method: "POST",
    path: "/logout",
    options: { token: (await register(service)).token },
  }),
  endSession: async (service) => {
    const { sessionId, token } = await register(service)
    return { method: "DELETE", path: `/account/sessions/${sessionId}`, options: { token } }
  },
  revokeGrantedApplication: async (service) => {
    const { credentials, form, token } = await authorizationCode(service)
    const { options, path } = formRequest("/token", form)
    expect((await service.call("POST", path, options)).status).toBe(200)
    return { method: "DELETE", path: `/account/applications/${credentials.client_id}`, options: { token } }
  },
  createUser: async () => ({
    method: "POST",
    path: "/users",
    options: {
      body: {
        email: someEmail().replace("person", "new"),
        password: "a password of your own",
        first_name: "Ada",
      },
    },
  }),
  updateAccount: async (service) => {
    const { token } = await register(service)
    const body = { password: newPassword, current_password: password, first_name: "Ada" }
    return { method: "PATCH", path: "/account", options: { token, body } }
  },
  enable2FA: (service) => enable(service, "/account/2fa/enable"),
  enable2FAShort: (service) => enable(service, "/account/2fa"),
  confirm2FA: async (service) => {
    const { email, token } = await register(service)
    // The code also makes the user's other sessions require a code.
    await login(service, email)
    const body = { default: true, provider: "AuthenticatorApp" }
    const { ga_secret } = (await service.call("POST", "/account/2fa/enable", { token, body })).body
    const code = totpCode(ga_secret)
    return { method: "POST", path: "/account/2fa/confirm", options: { token, body: { code } } }
  },
  disable2FA: async (service) => {
    const { token } = await withTotp(service)
    const body = { disable_all: true }
    return { method: "POST", path: "/account/2fa/disable", options: { token, body } }
  },
  backupDisable2FA: async (service) => {
    const { backupCodes, email } = await withTotp(service)
    const body = { email, backup_code: backupCodes[0], disable_all: true }
    return { method: "POST", path: "/account/2fa/backup_disable", options: { body } }
  },
  send2FASms: async (service) => {
    const { token } = await withSms(service)
    return { method: "POST", path: "/account/2fa/sms_code", options: { token } }
  },
  updateUserByAdmin: async (service) => {
    const { token } = await service.user({ role: "Admin" })
    const { id } = await service.user()
    const body = { role: "Bot", first_name: "Ada" }
    return { method: "PATCH", path: `/users/${id}`, options: { token, body } }
  },
  deleteUser: async (service) => {
    const { id, token } = await register(service)
    return { method: "DELETE", path: `/users/${id}`, options: { token } }
  },
  destroyTwoFactor: async (service) => {
    const { token } = await service.user({ role: "Admin" })
    const { id } = await withTotp(service)
    return { method: "DELETE", path: `/users/${id}/2fa`, options: { token } }
  },
  createFeature: async (service) => {
    const { token } = await service.user({ role: "Admin" })
    return { method: "POST", path: "/features", options: { token, body: { code: `f-${randomUUID()}` } } }
  },
  deleteFeature: async (service) => {
    const { feature, path, token } = await featureOfUser(service)
    await service.call("PUT", path, { token })
    return { method: "DELETE", path: `/features/${feature}`, options: { token } }
  },
  assignFeature: async (service) => {
    const { path, token } = await featureOfUser(service)
    return { method: "PUT", path, options: { token } }
  },
  unassignFeature: async (service) => {
    const { path, token } = await featureOfUser(service)
    await service.call("PUT", path, { token })
    return { method: "DELETE", path, options: { token } }
  },
  oauthToken: async (service) => formRequest("/token", (await authorizationCode(service)).form),
}
