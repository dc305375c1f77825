import { randomBytes, randomUUID } from "node:crypto"
import { Effect } from "effect"
import {
  organizationScopes,
  type Role,
  roleScopes,
  roles,
  type Scope,
} from "../../../schema/accounts/scope.ts"
import { makeApiKey } from "../../../src/accounts/api-keys/secrets.ts"
import { Tokens } from "../../../src/accounts/sessions/tokens.ts"
import type { Route } from "../../../src/http/route.ts"
import { type CallerScopes, reachOf, scopesOf, takesKeys } from "../../fixtures/access-table.ts"
import type { CallOptions, TestService, TestUser } from "../../fixtures/service.ts"

const memberRoles = ["OrgMember", "OrgController", "OrgOwner"] as const
type MemberRole = (typeof memberRoles)[number]

/** The users of the matrix: an owner of resources, the members of an organization, and a stranger of each role. */
export interface World {
  readonly owner: TestUser
  /** The other party of the owner's transfers. */
  readonly peer: TestUser
  readonly members: Readonly<Record<MemberRole, TestUser>>
  readonly strangers: Readonly<Record<Role, TestUser>>
  readonly organization: string
  /** A key of the owner that is assigned to the organization. */
  readonly pubkey: string
}

/** Creates all users of a world with one statement, because every operation has a world of its own. */
const makeUsers = async (service: TestService, userRoles: ReadonlyArray<Role>) => {
  const rows = userRoles.map((role) => {
    const id = randomUUID()
    return { id, email: `${id}@example.com`, role, free_limit: 1, email_verified_at: new Date() }
  })
  await service.sql`insert into app_user ${service.sql(rows)}`
  return Promise.all(
    rows.map(async ({ email, id, role }): Promise<TestUser> => {
      const facts = { sub: id, sid: randomUUID(), ep: 0, role }
      const sign = Tokens.use((tokens) => tokens.sign(facts, { kind: "access", ttlSeconds: 900 }))
      return { id, email, token: await service.runtime.runPromise(sign) }
    }),
  )
}

export const makeWorld = async (service: TestService): Promise<World> => {
  const [owner, peer, ...others] = await makeUsers(service, [
    ...(["User", "User"] as const),
    ...memberRoles.map(() => "User" as const),
    ...roles,
  ])
  const members = Object.fromEntries(memberRoles.map((role, i) => [role, others[i]!]))
  const strangers = Object.fromEntries(roles.map((role, i) => [role, others[memberRoles.length + i]!]))
  const [organization, pubkey] = [randomUUID(), randomBytes(32).toString("hex")]
  await service.sql`
    with o as (insert into organization (id, name) values (${organization}, 'An organization')),
         m as (insert into organization_member (organization_id, user_id, role)
               select ${organization}, * from unnest(${memberRoles.map((role) => members[role]!.id)}::uuid[],
                                                     ${[...memberRoles]}::text[]))
    insert into pubkey (pubkey, user_id, organization_id) values (${pubkey}, ${owner!.id}, ${organization})`
  return {
    owner: owner!,
    peer: peer!,
    members: members as World["members"],
    strangers: strangers as World["strangers"],
    organization,
    pubkey,
  }
}

/** A caller of the matrix: who it is, what it sends, and what it may do. */
export interface Caller {
  readonly name: string
  readonly user: TestUser
  readonly options: CallOptions
  readonly isOwner: boolean
  readonly isMember: boolean
  /** Whether the operation accepts this kind of credentials: always, never, or depending on the scopes. */
  readonly accepted: (row: Route) => "always" | "never" | "by scopes"
  readonly scopes: CallerScopes
}

/** A request of the matrix, and whose resource it uses. */
export interface Target {
  readonly path: string
  readonly body?: unknown
  readonly own?: boolean
  readonly organization?: boolean
}

/** Whether the table allows the caller to use the target. */
export const isAllowed = (row: Route, caller: Caller, target: Target): boolean => {
  const accepted = caller.accepted(row)
  if (accepted !== "by scopes") return accepted === "always"
  const reach = reachOf(row, caller.scopes)
  return (
    reach.includes("yes") ||
    reach.includes("all") ||
    (reach.includes("own") && caller.isOwner && target.own === true) ||
    (reach.includes("organization") && caller.isMember && target.organization === true)
  )
}

/** Scopes that an operation needs from an API key although its row does not name them. */
const alsoNeeded: Readonly<Record<string, ReadonlyArray<Scope>>> = { load: ["emoji::transfer"] }

export const makeCallers = async (
  service: TestService,
  world: World,
  row: Route,
): Promise<ReadonlyArray<Caller>> => {
  const { members, owner, strangers } = world
  const session = (name: string, user: TestUser, role: Role, memberRole?: MemberRole): Caller => ({
    name,
    user,
    options: { token: user.token },
    isOwner: user === owner,
    isMember: memberRole !== undefined,
    accepted: () => "by scopes",
    scopes: {
      everywhere: roleScopes[role],
      ...(memberRole === undefined ? {} : { inOrganization: organizationScopes[memberRole]! }),
    },
  })
  const refused = (name: string, options: CallOptions): Caller => ({
    ...session(name, owner, "User"),
    options,
    accepted: () => "never",
  })
  const keys: Array<object> = []
  const key = async (
    name: string,
    user: TestUser,
    facts: { role: Role; memberRole?: MemberRole; scopes: ReadonlyArray<Scope>; sensitive?: boolean },
  ): Promise<Caller> => {
    const { memberRole, role, scopes, sensitive = true } = facts
    const made = await Effect.runPromise(makeApiKey)
    keys.push({
      ...{ id: made.id, user_id: user.id, name: "matrix", secret_hash: made.hash },
      ...{ scopes: [...scopes], sensitive, made_as: role },
    })
    const limited = (all: ReadonlySet<Scope>) => new Set(scopes.filter((scope) => all.has(scope)))
    return {
      ...session(name, user, role, memberRole),
      options: { headers: { "x-api-key": made.text } },
      accepted: (called) => (takesKeys(called) && (sensitive || !called.sensitive) ? "by scopes" : "never"),
      scopes: {
        everywhere: limited(roleScopes[role]),
        ...(memberRole === undefined ? {} : { inOrganization: limited(organizationScopes[memberRole]!) }),
        isKey: true,
      },
    }
  }
  const oauth = await service.runtime.runPromise(
    Effect.flatMap(Tokens, (tokens) =>
      tokens.sign(
        { sub: owner.id, sid: randomUUID(), ep: 0, role: "User", ext: { emoji_id: "🌊", client_id: "app" } },
        { kind: "oauth-access", ttlSeconds: 300 },
      ),
    ),
  )
  const scopes = [...scopesOf(row), ...(alsoNeeded[row.id] ?? [])]
  const callers: Array<Caller> = [
    refused("an anonymous caller", {}),
    ...roles.map((role) => session(`another user with the role ${role}`, strangers[role], role)),
    session("the owner", owner, "User"),
    ...memberRoles.map((role) => session(`the ${role} of the organization`, members[role], "User", role)),
    {
      ...session("an OAuth token of the owner", owner, "User"),
      options: { token: oauth },
      accepted: (called) => (called.oauth ? "always" : "never"),
    },
    await key("a key of the owner without scopes", owner, { role: "User", scopes: [] }),
    await key("a key of the owner with the scopes", owner, { role: "User", scopes }),
    await key("a key of the owner with the scopes that is not sensitive", owner, {
      role: "User",
      scopes,
      sensitive: false,
    }),
    await key("a key of the organization's OrgOwner without scopes", members.OrgOwner, {
      role: "User",
      memberRole: "OrgOwner",
      scopes: [],
    }),
    await key("a key of the organization's OrgOwner with the scopes", members.OrgOwner, {
      role: "User",
      memberRole: "OrgOwner",
      scopes,
    }),
    await key("a key of another user with the scopes", strangers.User, { role: "User", scopes }),
    await key("a key of an administrator without scopes", strangers.Admin, { role: "Admin", scopes: [] }),
    await key("a key of an administrator with the scopes", strangers.Admin, { role: "Admin", scopes }),
  ]
  await service.sql`insert into api_key ${service.sql(keys)}`
  return callers
}
