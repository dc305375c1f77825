import { Schema } from "effect"
import { AddressesRefused, parseAddressJson, parseAddressPairs } from "../../schema/directory/address-list.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { keepLastValues } from "../directory/record-inputs.ts"
import type { Form } from "../http/request/form.ts"
import type { VisitState } from "./visits.ts"

const idParameters = ["partner_transaction_id", "partner_conversion_id"] as const
export const linkParameters = ["refresh_token", "eid", "addresses", "address_json", ...idParameters] as const

/**
 * The query parameters in the OpenAPI document. They are not validated here, because a page explains invalid values
 * to the user.
 */
export const partnerQuery = Object.fromEntries(
  linkParameters.map((name) => [name, Schema.optionalKey(Schema.String)]),
)

/** As long as in the body of `POST /users`. */
const maxIdLength = 256

/** A parameter of a partner's link that is not valid. */
export class LinkRefused {
  readonly _tag = "LinkRefused"
  /** The name of the parameter, for people. */
  readonly name: string
  readonly why: string

  constructor(name: string, why: string) {
    this.name = name
    this.why = why
  }
}

/** Parses the parameters of a partner's link. */
export const readLinkParameters = (values: Form): VisitState | LinkRefused => {
  const pairs = parseAddressPairs(values["addresses"] ?? "")
  if (pairs instanceof AddressesRefused) return new LinkRefused("list of addresses", pairs.message)
  const fromJson = parseAddressJson(values["address_json"] ?? "")
  if (fromJson instanceof AddressesRefused)
    return new LinkRefused("list of addresses (address_json)", fromJson.message)
  const given = values["eid"] ?? ""
  const eid = given === "" ? undefined : parseEmojiId(given)
  if (eid?._tag === "EmojiIdRefused") return new LinkRefused("emoji id (eid)", eid.message)
  for (const name of idParameters)
    if ((values[name] ?? "").length > maxIdLength)
      return new LinkRefused(name, `It must have at most ${maxIdLength} characters.`)
  const kept = (name: keyof VisitState, parameter: (typeof linkParameters)[number]) =>
    values[parameter] ? { [name]: values[parameter] } : {}
  return {
    // The pages show exactly the addresses that will be written. If a category can have only one value, only the last
    // one is written.
    addresses: keepLastValues([...pairs, ...fromJson]),
    ...kept("refreshToken", "refresh_token"),
    ...kept("transactionId", "partner_transaction_id"),
    ...kept("conversionId", "partner_conversion_id"),
    ...(eid === undefined ? {} : { eid: eid.canonical }),
  }
}
