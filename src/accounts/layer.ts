import { Layer } from "effect"
import { DemoItems } from "../demo/demo-item-store.ts"
import { EmojiIds } from "../directory/id-store.ts"
import { CustodialKeys } from "../keys/custodial-keys.ts"
import { EthWallets } from "../keys/eth-wallets.ts"
import { Pubkeys } from "../keys/pubkey-store.ts"
import { Wallets } from "../keys/wallet-store.ts"
import { Interests } from "../market/interest-store.ts"
import { Members } from "../organizations/member-store.ts"
import { OrganizationKeys } from "../organizations/organization-key-store.ts"
import { Organizations } from "../organizations/organization-store.ts"
import { Proxied } from "../proxy/services.ts"
import { OauthClients } from "../sign-in/oauth/oauth-client-store.ts"
import { TransferLists } from "../transfers/transfer-store.ts"
import { RecentEventLists } from "../turns/recent-events.ts"
import { UserUpdates } from "./admin-update-user.ts"
import { ApiKeys } from "./api-keys/api-key-store.ts"
import { CurrentUsers } from "./current-users.ts"
import { Features } from "./feature-store.ts"
import { SessionData } from "./sessions/session-data.ts"
import { UserAdmin } from "./user-admin-store.ts"

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
