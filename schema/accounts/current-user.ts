import { Schema } from "effect"
import { EmojiListItem } from "../directory/emoji-list-item.ts"
import { Wallet } from "../keys/wallet.ts"
import { DisplayTransferRequest, ListOfDisplayTransferRequest } from "../transfers/transfer.ts"
import { DisplayFeature } from "./feature.ts"
import { Role, Scope } from "./scope.ts"
import { DisplayUser } from "./user.ts"

export const CurrentUser = Schema.Struct({
  features: Schema.Array(DisplayFeature),
  global_scopes: Schema.Array(Scope),
  organization_roles: Schema.Record(Schema.String, Role),
  organization_scopes: Schema.Record(Schema.String, Schema.Array(Scope)),
  /** The ids that the user sends in transfers that are not finished. */
  pending_transfers: Schema.Array(Schema.String),
  pubkeys: Schema.Array(Schema.String),
  role: Role,
  user: DisplayUser,
  partner_transaction_id: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "CurrentUser" })
export type CurrentUser = typeof CurrentUser.Type

/** All data that a client shows first after login, in one response. */
export const LoadUser = Schema.Struct({
  current_user: CurrentUser,
  editions: Schema.Array(Schema.Int).annotate({
    description:
      "The different generations of the ids in `extended_list`: [0], or empty for a user without ids.",
  }),
  extended_list: Schema.Array(EmojiListItem),
  incoming_transfers: Schema.Array(DisplayTransferRequest),
  outgoing_transfers: ListOfDisplayTransferRequest,
  wallets: Schema.Array(Wallet),
  partner_transaction_id: Schema.optionalKey(Schema.String),
  sidebar: Schema.optionalKey(
    Schema.Unknown.annotate({ description: "Always absent. It has no known meaning." }),
  ),
}).annotate({ identifier: "LoadUser" })
export type LoadUser = typeof LoadUser.Type
