import { mails, register } from "../../accounts/person.ts"
import type { TestService } from "../../fixtures/service.ts"

export const newPassword = "a new and better password"

/** Registers a user with a password whose email address is confirmed. */
export const confirmedUser = async (service: TestService) => {
  const person = await register(service)
  await service.sql`update app_user set email_verified_at = now() where id = ${person.id}`
  return person
}

export const requestReset = (service: TestService, email: string, body: Record<string, unknown> = {}) =>
  service.call("POST", "/auth/password_reset", { body: { email, ...body } })

/** Returns the newest mailed link that sets a new password. It is `about:blank` if there is none. */
export const resetLink = async (service: TestService, email: string) => {
  const mail = (await mails(service, email)).find(({ kind }) => kind === "password_reset")
  return new URL(mail?.link ?? "about:blank")
}

/** Requests a reset and returns the token of the mailed link. */
export const resetToken = async (service: TestService, email: string) => {
  await requestReset(service, email)
  return (await resetLink(service, email)).searchParams.get("token") ?? ""
}

export const confirmReset = (service: TestService, token: string, password = newPassword) =>
  service.call("POST", "/auth/password_reset/confirm", { body: { token, password } })
