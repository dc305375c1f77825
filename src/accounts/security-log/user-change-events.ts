import type { Role } from "../../../schema/accounts/scope.ts"
import type { SecurityEvent } from "./security-log.ts"

/** The facts about a user that an administrator can change and whose change is a security event. */
export interface UserFacts {
  readonly role: Role
  readonly email: string | null
  readonly active: boolean
}

/** Lists the security events of an administrator's change. Values that did not change cause no event. */
export const eventsOfChange = (
  userId: string,
  changes: Partial<UserFacts> & { readonly hasNewPassword: boolean },
  before: UserFacts | null,
): ReadonlyArray<SecurityEvent> => {
  const isNew = (name: keyof UserFacts) => changes[name] !== undefined && changes[name] !== before?.[name]
  const events: Array<SecurityEvent> = []
  if (isNew("role"))
    events.push({
      event: "role.changed",
      userId,
      details: { from: before?.role ?? null, to: changes.role ?? null },
    })
  if (isNew("email")) events.push({ event: "email.changed", userId })
  if (changes.hasNewPassword) events.push({ event: "password.changed", userId })
  if (isNew("active"))
    events.push({ event: changes.active ? "account.activated" : "account.deactivated", userId })
  return events
}
