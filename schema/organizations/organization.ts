import { Schema } from "effect"
import { pageOf } from "../paging.ts"
import { isWebLink } from "../web-link.ts"
import { DateTime, optional, text, Uuid } from "../wire-format.ts"

/** The rules for links depend on the configuration, so `src/organizations/return-link.ts` checks them. */
const ReturnLink = text(2000)
const Logo = Schema.String.check(
  Schema.makeFilter((link: string) => link === "" || isWebLink(link), {
    message: "expected an http(s) URL",
  }),
)
const PartnerPath = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/, {
    message: "expected 1 to 32 lower-case letters, digits or hyphens, not starting or ending with a hyphen",
  }),
)
const OrganizationName = text(200).check(
  Schema.isPattern(/\S/, { message: "expected a name that is not blank" }),
)

/** A share of a price in hundredths of a percent: 250 is 2.5 percent. */
const BasisPoints = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))

/**
 * The fees of an organization. They are the parts of an item's price that the order records for the organization
 * (client) and for the operator (company). They do not change what the buyer pays.
 */
export interface OrganizationFees {
  readonly clientBasisPoints: number
  readonly companyBasisPoints: number
}

export const Organization = Schema.Struct({
  id: Uuid,
  name: Schema.String,
  partner_path: Schema.optionalKey(Schema.String),
  return_link: Schema.optionalKey(Schema.String),
  client_fee_basis_points: Schema.Int,
  company_fee_basis_points: Schema.Int,
  created_at: DateTime,
  updated_at: DateTime,
}).annotate({ identifier: "Organization" })
export type Organization = typeof Organization.Type

export const ListOfOrganization = pageOf(Organization, "ListOfOrganization")

export const NewOrganization = Schema.Struct({
  name: OrganizationName,
  partner_path: optional(PartnerPath),
  return_link: optional(ReturnLink),
  client_fee_basis_points: optional(BasisPoints),
  company_fee_basis_points: optional(BasisPoints),
}).annotate({ identifier: "NewOrganization" })
export type NewOrganization = typeof NewOrganization.Type

/** A field that is omitted or null does not change. */
export const UpdateOrganization = Schema.Struct({
  name: optional(OrganizationName),
  partner_path: optional(PartnerPath),
  return_link: optional(ReturnLink),
  client_fee_basis_points: optional(BasisPoints),
  company_fee_basis_points: optional(BasisPoints),
}).annotate({ identifier: "UpdateOrganization" })
export type UpdateOrganization = typeof UpdateOrganization.Type

export const OrganizationRole = Schema.Literals(["OrgOwner", "OrgController", "OrgMember"])
export type OrganizationRole = typeof OrganizationRole.Type

export const OrganizationMember = Schema.Struct({
  user_id: Uuid,
  role: OrganizationRole,
  email: Schema.optionalKey(Schema.String),
  first_name: Schema.optionalKey(Schema.String),
  last_name: Schema.optionalKey(Schema.String),
  created_at: DateTime,
}).annotate({ identifier: "OrganizationMember" })
export type OrganizationMember = typeof OrganizationMember.Type

/**
 * The body of a request that adds a member or changes the role of one. `email` is required for a user who is not a
 * member yet, because a user id alone must not reveal personal data. Administrators do not need it.
 */
export const SetOrganizationMember = Schema.Struct({
  role: OrganizationRole,
  email: optional(text(320)),
}).annotate({ identifier: "SetOrganizationMember" })

export const OrganizationBranding = Schema.Struct({
  organization_id: Uuid,
  name: Schema.String,
  currencies: Schema.Array(Schema.String),
  return_link: Schema.String,
  requires_email: Schema.Boolean,
  logo: Schema.optionalKey(Schema.String),
  logo_small: Schema.optionalKey(Schema.String),
  logo_thumbnail: Schema.optionalKey(Schema.String),
  created_at: DateTime,
  updated_at: DateTime,
}).annotate({ identifier: "OrganizationBranding" })
export type OrganizationBranding = typeof OrganizationBranding.Type

/**
 * The body of a request that replaces the complete branding. A logo that is omitted is removed. A return_link that is omitted or unchanged needs no
 * permission of the operator.
 */
export const UpdateOrganizationBranding = Schema.Struct({
  currencies: Schema.Array(
    Schema.String.check(
      Schema.isPattern(/^\w{1,20}$/, { message: "expected a ticker such as BTC or a tag such as 0x1003" }),
    ),
  ).check(Schema.isMaxLength(200)),
  return_link: optional(ReturnLink),
  logo: optional(Logo),
  logo_small: optional(Logo),
  logo_thumbnail: optional(Logo),
  requires_email: optional(Schema.Boolean),
}).annotate({ identifier: "UpdateOrganizationBranding" })
export type UpdateOrganizationBranding = typeof UpdateOrganizationBranding.Type
