import { randomBytes } from "node:crypto"
import { generateSync } from "otplib"
import { expect } from "vitest"
import type { TestService } from "../fixtures/service.ts"

export const password = "correct horse battery"
export const someEmail = () => `person-${randomBytes(6).toString("hex")}@example.com`

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly has_password: boolean
  readonly requires_2fa?: string
}

/** Registers a user through the API. Returns the user's email, ids and tokens. */
export const register = async (service: TestService, body: Record<string, unknown> = {}) => {
  const email = someEmail()
  const answer = await service.call("POST", "/users", { body: { email, password, ...body } })
  expect(answer.status).toBe(200)
  const tokens: Tokens = answer.body
  const { sub, sid } = claimsOf(tokens.access_token)
  return { email, id: sub, sessionId: sid, token: tokens.access_token, refresh: tokens.refresh_token, tokens }
}

export const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString()) as {
    readonly sub: string
    readonly sid: string
    readonly iat: number
    readonly exp: number
    readonly ep: number
  }

export const login = (service: TestService, email: string, secret = password) =>
  service.call("POST", "/auth/token", { body: { email, password: secret } })

export const mails = async (service: TestService, to: string) => {
  const answer = await service.call("GET", `/dev/outbox?to=${encodeURIComponent(to)}`)
  expect(answer.status).toBe(200)
  return answer.body as ReadonlyArray<{
    readonly to: string
    readonly kind: string
    readonly subject: string
    readonly text: string
    readonly code?: string
    readonly link?: string
    readonly at: string
  }>
}

/** Returns the token of the newest login link that was mailed to the address, or an empty text if there is none. */
export const newestLink = async (service: TestService, to: string) => {
  const mail = (await mails(service, to)).find(({ link }) => link?.includes("refresh_token=") === true)
  return new URL(mail?.link ?? "about:blank").searchParams.get("refresh_token") ?? ""
}

/** Returns the code that an authenticator app shows `steps` × 30 seconds from now. */
export const totpCode = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 })

const stepMs = 30_000
const stepNow = () => Math.floor(Date.now() / stepMs)

/**
 * Sends the code of the previous time step, which is valid until the current step ends. If the current step ends
 * before the code is accepted, the function tries again with a newer code.
 */
export const sendPreviousTotpCode = async <A extends { readonly status: number }>(
  secret: string,
  send: (code: string) => Promise<A>,
): Promise<A> => {
  for (;;) {
    const step = stepNow()
    const answer = await send(totpCode(secret, -1))
    if (answer.status === 200 || stepNow() === step) return answer
  }
}

/**
 * Enables the authenticator app. The setup is confirmed with the code of the previous time step, so that the current
 * code is still unused.
 */
export const turnOnTotp = async (service: TestService, token: string) => {
  const enabled = await service.call("POST", "/account/2fa/enable", {
    token,
    body: { default: true, provider: "AuthenticatorApp" },
  })
  expect(enabled.status).toBe(200)
  const secret: string = enabled.body.ga_secret
  const confirmed = await sendPreviousTotpCode(secret, (code) =>
    service.call("POST", "/account/2fa/confirm", { token, body: { code } }),
  )
  expect(confirmed.status).toBe(200)
  return { secret, backupCodes: enabled.body.backup_codes as ReadonlyArray<string> }
}

/**
 * Ends the grace period of the user's sessions by changing the database. Only services that were started with
 * `peersPossible` notice the change.
 */
export const endGrace = ({ sql }: Pick<TestService, "sql">, userId: string) =>
  sql`update entity set version = version + 1, state = jsonb_set(state, '{context,verifiedAt}', '1')
       where kind = 'session' and owner_id = ${userId}`
