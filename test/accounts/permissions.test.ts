import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { type Role, roleScopes, rolesUpTo, type Scope } from "../../schema/accounts/scope.ts"
import { checkForUser, checkGrants, checkInOrganization, subjectOf } from "../../src/accounts/permissions.ts"
import type { Principal } from "../../src/http/principal.ts"

const me = "0a000000-0000-4000-8000-000000000001"
const other = "0a000000-0000-4000-8000-000000000002"
const org = "0a000000-0000-4000-8000-00000000000f"

const caller = (facts: Partial<Principal> & { role?: Role } = {}): Principal => ({
  userId: me,
  role: "User",
  scopes: roleScopes[facts.role ?? "User"],
  via: "session",
  sessionId: "s",
  emojiId: undefined,
  organizations: new Map(),
  twoFactor: false,
  ...facts,
})
const allowed = <A, E>(effect: Effect.Effect<A, E>) => Result.isSuccess(Effect.runSync(Effect.result(effect)))

describe("acting for a user", () => {
  it("is allowed for the caller's own id in any letter case, and for other ids only with the required scope", () => {
    expect(allowed(checkForUser(caller(), me.toUpperCase(), { others: "user:show" }))).toBe(true)
    expect(allowed(checkForUser(caller(), other, { others: "user:show" }))).toBe(false)
    expect(allowed(checkForUser(caller({ role: "Admin" }), other, { others: "user:show" }))).toBe(true)
  })

  it("requires the scope that the operation defines for the caller's own user", () => {
    const key = caller({ via: "api_key", scopes: new Set<Scope>(["cart:show"]) })
    expect(allowed(checkForUser(key, me, { own: "user:deleteSelf", others: "user:delete" }))).toBe(false)
  })
})

describe("acting in an organization", () => {
  const member = (role: Role, facts: Partial<Principal> = {}) =>
    caller({ organizations: new Map([[org, role]]), ...facts })

  it("depends on the caller's role in that organization, not on a role in another organization", () => {
    expect(allowed(checkInOrganization(member("OrgOwner"), org, "organizationUser:admin"))).toBe(true)
    expect(allowed(checkInOrganization(member("OrgMember"), org, "organizationUser:admin"))).toBe(false)
    expect(allowed(checkInOrganization(member("OrgOwner"), other, "organizationUser:admin"))).toBe(false)
  })

  it("is denied to an OAuth token, and allowed to an API key only if the key has the required scope", () => {
    expect(
      allowed(
        checkInOrganization(
          member("OrgOwner", { via: "oauth", scopes: new Set() }),
          org,
          "organization:read",
        ),
      ),
    ).toBe(false)
    const key = (scope: Scope) =>
      member("OrgOwner", { via: "api_key", scopes: new Set(), limitedTo: new Set([scope]) })
    expect(allowed(checkInOrganization(key("organization:read"), org, "organization:read"))).toBe(true)
    expect(allowed(checkInOrganization(key("cart:show"), org, "organization:read"))).toBe(false)
  })

  it("by `organization_id` requires a role with the scope, and is denied if `user_id` names another user", () => {
    const needed = {
      own: "userEmoji:list",
      others: "adminUser:load",
      organization: "organizationEmoji:list",
    } as const
    const subject = (principal: Principal, whose: Parameters<typeof subjectOf>[1]) =>
      Effect.runSync(Effect.result(subjectOf(principal, whose, needed)))
    expect(subject(caller(), {})).toMatchObject({ success: { kind: "user", id: me } })
    expect(subject(member("OrgController"), { organization_id: org })).toMatchObject({
      success: { kind: "organization" },
    })
    expect(subject(member("OrgMember"), { organization_id: org })).toMatchObject({
      failure: { _tag: "Forbidden" },
    })
    expect(subject(caller(), { user_id: other, organization_id: org })).toMatchObject({
      failure: { _tag: "Forbidden" },
    })
  })
})

describe("the ranking of roles", () => {
  it("prevents a user from granting a role above their own", () => {
    expect(allowed(checkGrants(caller({ role: "Admin" }), "Admin"))).toBe(true)
    expect(allowed(checkGrants(caller({ role: "Admin" }), "Super"))).toBe(false)
    expect(allowed(checkGrants(caller({ role: "Bot" }), "Admin"))).toBe(false)
  })

  it("gives every role all scopes of the roles below it", () => {
    for (const role of Object.keys(roleScopes) as Array<Role>) {
      for (const lower of rolesUpTo(role)) {
        expect([...roleScopes[lower]].every((scope) => roleScopes[role].has(scope))).toBe(true)
      }
    }
  })
})
