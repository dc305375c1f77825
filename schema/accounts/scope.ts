import { Schema } from "effect"
import { words } from "../wire-format.ts"

/** All scopes of the API. */
export const scopes = [
  "adminCart:update",
  "adminEmoji:destroy",
  "adminEmoji:load",
  "adminEmoji:register",
  "adminEmoji:transfer",
  "adminEmoji:updateFeatures",
  "adminEmoji:updateSecureData",
  "adminEmoji:write",
  "adminFeatureUser:read",
  "adminInvites:write",
  "adminInvites:list",
  "adminLootbox:read",
  "adminLootbox:write",
  "adminNotifications:write",
  "adminUser:bypass2fa",
  "adminUser:load",
  "adminUser:loginAs",
  "adminUser:twoFactorAuthDestroy",
  "adminUser:roleUpdate",
  "adminPriceParameters:read",
  "adminPriceParameters:write",
  "cart:show",
  "cart:update",
  "order:paymentOverride",
  "order:read",
  "order:readSelf",
  "order:refund",
  "order:refundOverride",
  "order:resendConfirmation",
  "refund:read",
  "paymentMethod:destroy",
  "paymentMethod:read",
  "paymentMethod:setDefault",
  "code:delete",
  "code:read",
  "code:write",
  "edition:delete",
  "edition:read",
  "edition:write",
  "emojiGroups:delete",
  "emojiGroups:read",
  "emojiGroups:write",
  "feature::delete",
  "feature::read",
  "feature::write",
  "lootbox:use",
  "organization:admin",
  "organizationCode:admin",
  "organizationEmoji:list",
  "organizationEmoji:write",
  "organizationList:read",
  "organization:read",
  "organizationUser:admin",
  "organizationUser:read",
  "organization:write",
  "nftSignature:write",
  "nftToken:destroy",
  "nftTransfer:read",
  "domainAction:read",
  "domainEvent:read",
  "emoji::transfer",
  "user:createApiKey",
  "token:refresh",
  "auth:twoFactor",
  "user:activate",
  "userData:update",
  "user:delete",
  "user:deleteSelf",
  "userEmail:verify",
  "userEmoji:list",
  "userInterest:delete",
  "userInterest:read",
  "userInterest:write",
  "user:list",
  "userPubkeys:list",
  "userPubkeys:write",
  "user:show",
  "user:write",
  "user:writeSelf",
] as const

export type Scope = (typeof scopes)[number]

const noEditions = "The service has one edition: the `generation` of every emoji id is 0."
const noGroups = "The supported emoji have no groups."
const noInvites =
  "There are no separate invitations: a transfer to an unknown email address invites the recipient."

/**
 * The scopes of the original API that no operation needs, each with the reason. Roles and API keys can have them,
 * because existing clients request the whole list. test/http/scopes.test.ts checks that every other scope is needed by
 * an operation.
 */
export const reservedScopes: Readonly<Partial<Record<Scope, string>>> = {
  "adminEmoji:updateFeatures": "Emoji ids have no features. Those of users need `feature::write`.",
  "adminInvites:write": noInvites,
  "adminInvites:list": noInvites,
  "adminNotifications:write": "Administrators cannot send notifications.",
  "edition:delete": noEditions,
  "edition:read": noEditions,
  "edition:write": noEditions,
  "emojiGroups:delete": noGroups,
  "emojiGroups:read": noGroups,
  "emojiGroups:write": noGroups,
  "nftTransfer:read": "The service does not follow the token contract, so it knows no transfers of tokens.",
  "domainAction:read":
    "The actions of administrators are in the security logs (`adminUser:load`) and the events (`domainEvent:read`).",
  "token:refresh": "The refresh token itself permits `POST /auth/token/refresh`.",
  "auth:twoFactor": "The refresh token and the code permit `POST /auth/2fa`.",
  "userEmail:verify": "Only the owner of an address can confirm it, with a mailed link.",
}

export const Scope = Schema.Literals(scopes).annotate({
  identifier: "Scope",
  message: "expected one of the scopes listed in /openapi.json",
  description: `Reserved scopes, which no operation needs: ${Object.keys(reservedScopes).join(", ")}.`,
})

export const roles = ["Admin", "OrgController", "OrgMember", "OrgOwner", "Bot", "Super", "User"] as const
export const Role = words("Role", roles)
export type Role = (typeof roles)[number]

const userScopes: ReadonlyArray<Scope> = [
  "cart:show",
  "cart:update",
  "user:createApiKey",
  "edition:read",
  "emoji::transfer",
  "lootbox:use",
  "order:readSelf",
  "organizationList:read",
  "nftSignature:write",
  "paymentMethod:destroy",
  "paymentMethod:read",
  "paymentMethod:setDefault",
  "userData:update",
  "user:deleteSelf",
  "userInterest:delete",
  "userInterest:read",
  "userInterest:write",
  "user:writeSelf",
  "userEmoji:list",
  "userPubkeys:list",
  "userPubkeys:write",
]

/**
 * The scope of an API key that does sensitive operations for an administrator. It belongs to no role: only a key can
 * have it, and only if the key was created with it and with a recent two-factor code.
 */
export const bypass2fa = "adminUser:bypass2fa" satisfies Scope

const adminScopes: ReadonlySet<Scope> = new Set(scopes.filter((scope) => scope !== bypass2fa))

/**
 * The scopes that a user's role gives everywhere. A role in an organization adds scopes inside that organization
 * only. A Bot has the scopes of a User: only the owner, administrators and the power roles of an organization may
 * write to an id.
 */
export const roleScopes: Readonly<Record<Role, ReadonlySet<Scope>>> = {
  Super: adminScopes,
  Admin: adminScopes,
  Bot: new Set(userScopes),
  OrgOwner: new Set(userScopes),
  OrgController: new Set(userScopes),
  OrgMember: new Set(userScopes),
  User: new Set(userScopes),
}

/**
 * The scopes of a token from the authorization-code flow. Such a token gives access to one id, which the user chose.
 */
export const oauthScopes: ReadonlySet<Scope> = new Set<Scope>(["userEmoji:list"])

/** Returns whether an API key of a user with this role can have the scope. */
export const isKeyScope = (role: Role, scope: Scope): boolean =>
  roleScopes[role].has(scope) || (scope === bypass2fa && (role === "Admin" || role === "Super"))

/** The scopes that a member has inside an organization, by the member's role in that organization. */
export const organizationScopes: Partial<Record<Role, ReadonlySet<Scope>>> = {
  OrgOwner: new Set<Scope>([
    "organization:admin",
    "organizationCode:admin",
    "organizationEmoji:list",
    "organizationEmoji:write",
    "organization:read",
    "organizationUser:admin",
    "organizationUser:read",
    "organization:write",
  ]),
  OrgController: new Set<Scope>([
    "organizationCode:admin",
    "organizationEmoji:list",
    "organizationEmoji:write",
    "organization:read",
    "organizationUser:read",
    "organization:write",
  ]),
  OrgMember: new Set<Scope>(["organization:read", "organizationUser:read"]),
}

const rankedRoles: ReadonlyArray<Role> = [
  "User",
  "OrgMember",
  "OrgController",
  "OrgOwner",
  "Bot",
  "Admin",
  "Super",
]

/**
 * Returns this role and all roles below it. A user with this role may grant these roles and change users who have
 * them.
 */
export const rolesUpTo = (role: Role): ReadonlyArray<Role> =>
  rankedRoles.slice(0, rankedRoles.indexOf(role) + 1)
