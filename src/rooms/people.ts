import { Layer } from "effect"
import { Proxied } from "../providers/proxied.ts"
import { CurrentUsers } from "../services/current-users.ts"
import { CustodialKeys } from "../services/custodial-keys.ts"
import { EthWallets } from "../services/eth-wallets.ts"
import { SessionData } from "../services/session-data.ts"
import { UserUpdates } from "../services/user-updates.ts"
import { ApiKeys } from "../store/api-keys.ts"
import { DemoItems } from "../store/demo-items.ts"
import { EmojiIds } from "../store/emoji-ids.ts"
import { Features } from "../store/features.ts"
import { Interests } from "../store/interests.ts"
import { Members } from "../store/members.ts"
import { OauthClients } from "../store/oauth-clients.ts"
import { OrganizationKeys } from "../store/organization-keys.ts"
import { Organizations } from "../store/organizations.ts"
import { Pubkeys } from "../store/pubkeys.ts"
import { RecentEventLists } from "../store/recent-events.ts"
import { TransferLists } from "../store/transfers.ts"
import { UserAdmin } from "../store/user-admin.ts"
import { Wallets } from "../store/wallets.ts"

const stores = Layer.mergeAll(
  ApiKeys.layer,
  DemoItems.layer,
  EmojiIds.layer,
  Features.layer,
  Interests.layer,
  Members.layer,
  OrganizationKeys.layer,
  OauthClients.layer,
  Organizations.layer,
  Pubkeys.layer,
  RecentEventLists.layer,
  TransferLists.layer,
  UserAdmin.layer,
  Wallets.layer,
)

/** Users, their keys and their organizations: what the routes about people and the command line need. */
export const people = Layer.mergeAll(
  UserUpdates.layer,
  SessionData.layer.pipe(Layer.provideMerge(CurrentUsers.layer)),
  Proxied.layer,
  EthWallets.layer({ serviceName: "Emoji Id Directory" }),
).pipe(Layer.provideMerge(stores), Layer.provideMerge(CustodialKeys.layer))
