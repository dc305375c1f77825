import { randomUUID } from "node:crypto"
import { generateSync } from "otplib"
import type { TestService } from "../../../fixtures/test-service.ts"
import { mails } from "../../../transfers/transfer-service.ts"
import type { Prepare } from "./prepared.ts"

const password = "correct horse battery"

const done = async (service: TestService, path: string, body: unknown, token?: string) => {
  const answer = await service.call("POST", path, { body, ...(token === undefined ? {} : { token }) })
  if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

/** Registers a user with a password and a confirmed email. */
export const registered = async (service: TestService) => {
  const email = `${randomUUID()}@example.com`
  await done(service, "/users", { email, password })
  await service.sql`update app_user set email_verified_at = now() where email = ${email}`
  const tokens = await done(service, "/auth/token", { email, password })
  return { email, token: tokens.access_token as string, refresh: tokens.refresh_token as string }
}

/** The code of the previous time step is still valid, and leaves the current one unused. */
const code = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 * steps })

const enabling = async (service: TestService) => {
  const user = await registered(service)
  const body = { default: true, provider: "AuthenticatorApp" }
  const made = await done(service, "/account/2fa/enable", body, user.token)
  return { ...user, secret: made.ga_secret as string, backup: made.backup_codes as ReadonlyArray<string> }
}

const enabled = async (service: TestService) => {
  const user = await enabling(service)
  await done(service, "/account/2fa/confirm", { code: code(user.secret, -1) }, user.token)
  return user
}

const newestLink = async (service: TestService, email: string, name: string): Promise<string> => {
  const [mail] = (await mails(service, email)).filter(({ data }) => typeof data["link"] === "string")
  return new URL(String(mail?.data["link"])).searchParams.get(name) ?? ""
}

/** A user without a password, who logs in with mailed links. */
const byMail = async (service: TestService) => {
  const email = `${randomUUID()}@example.com`
  await done(service, "/users", { email })
  return email
}

/** Logins, tokens and two-factor authentication. */
export const loginFixtures: Readonly<Record<string, Prepare>> = {
  login: async (service) => {
    const { email } = await registered(service)
    return { path: "/auth/token", body: { email, password } }
  },
  refreshToken: async (service) => {
    const { refresh, token } = await registered(service)
    const { sid } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())
    return {
      path: "/auth/token/refresh",
      body: { refresh_token: refresh },
      // The retry comes when the previous refresh token is no longer accepted, which is after a minute.
      meanwhile: () => service.sql`
        update entity set version = version + 1, state = jsonb_set(state, '{context,rotatedAt}',
               to_jsonb((state->'context'->>'rotatedAt')::float8 - 70000::float8))
         where kind = 'session' and id = ${sid}`,
    }
  },
  twoFactorAuthentication: async (service) => {
    const { email, secret } = await enabled(service)
    const { refresh_token } = await done(service, "/auth/token", { email, password })
    return { path: "/auth/2fa", body: { refresh_token, code: code(secret) } }
  },
  magicLinkLogin: async (service) => ({ path: "/auth/magic_link", body: { email: await byMail(service) } }),
  consumeMagicLink: async (service) => {
    const email = await byMail(service)
    const token = await newestLink(service, email, "refresh_token")
    return { path: "/auth/magic_link/consume", body: { token } }
  },
  requestPasswordReset: async (service) => {
    const { email } = await registered(service)
    return { path: "/auth/password_reset", body: { email } }
  },
  confirmPasswordReset: async (service) => {
    const { email } = await registered(service)
    await done(service, "/auth/password_reset", { email })
    const token = await newestLink(service, email, "token")
    return { path: "/auth/password_reset/confirm", body: { token, password: `${password} staple` } }
  },
  logout: async (service) => ({ path: "/logout", token: (await registered(service)).token }),
  createUser: async () => ({ path: "/users", body: { email: `${randomUUID()}@example.com`, password } }),
  updateAccount: async (service) => ({
    path: "/account",
    token: (await registered(service)).token,
    body: { first_name: "Ann", email: `${randomUUID()}@example.com`, current_password: password },
  }),
  endSession: async (service) => {
    const { email, token } = await registered(service)
    const other = await done(service, "/auth/token", { email, password })
    const { sid } = JSON.parse(Buffer.from(other.access_token.split(".")[1], "base64url").toString())
    return { path: `/account/sessions/${sid}`, token }
  },
  confirm2FA: async (service) => {
    const { secret, token } = await enabling(service)
    return { path: "/account/2fa/confirm", token, body: { code: code(secret, -1) } }
  },
  disable2FA: async (service) => {
    const { token } = await enabled(service)
    return { path: "/account/2fa/disable", token, body: { disable_all: true } }
  },
  backupDisable2FA: async (service) => {
    const { backup, email } = await enabled(service)
    return {
      path: "/account/2fa/backup_disable",
      body: { email, backup_code: backup[0], disable_all: true },
    }
  },
  send2FASms: async (service) => {
    const { token } = await registered(service)
    const phone = `+1555${String(Date.now()).slice(-7)}`
    await done(service, "/account/2fa/enable", { default: true, provider: "SMS", phone }, token)
    return { path: "/account/2fa/sms_code", token }
  },
}
