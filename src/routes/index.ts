import type { Route } from "../http/route.ts"
import { adminEvents } from "./admin-events.ts"
import { apiKeys } from "./api-keys.ts"
import { assets } from "./assets.ts"
import { auth } from "./auth.ts"
import { authorize } from "./authorize.ts"
import { cart } from "./cart.ts"
import { codes } from "./codes.ts"
import { consolePages } from "./console.ts"
import { credentials } from "./credentials.ts"
import { currentUser } from "./current-user.ts"
import { dev } from "./dev.ts"
import { documents } from "./documents.ts"
import { emojiIds } from "./emoji.ts"
import { features } from "./features.ts"
import { idLists } from "./id-lists.ts"
import { interests } from "./interests.ts"
import { jsonStore } from "./json-store.ts"
import { live } from "./live.ts"
import { lookups } from "./lookups.ts"
import { lootboxTypes } from "./lootbox-types.ts"
import { lootboxes } from "./lootboxes.ts"
import { magicLink } from "./magic-link.ts"
import { members } from "./members.ts"
import { oauthClients } from "./oauth-clients.ts"
import { oauthToken } from "./oauth-token.ts"
import { operations } from "./operations.ts"
import { orders } from "./orders.ts"
import { organizationKeys } from "./organization-keys.ts"
import { organizations } from "./organizations.ts"
import { partnerConnect } from "./partner-connect.ts"
import { partnerGet } from "./partner-get.ts"
import { partnerManage } from "./partner-manage.ts"
import { paymentMethods } from "./payment-methods.ts"
import { prices } from "./prices.ts"
import { proxy } from "./proxy.ts"
import { pubkeys } from "./pubkeys.ts"
import { randomCodes } from "./random-codes.ts"
import { records } from "./records.ts"
import { registry } from "./registry.ts"
import { sandbox } from "./sandbox.ts"
import { storefront } from "./storefront.ts"
import { tokens } from "./tokens.ts"
import { transfers } from "./transfers.ts"
import { twoFactor } from "./two-factor.ts"
import { users } from "./users.ts"
import { wallets } from "./wallets.ts"
import { webhooks } from "./webhooks.ts"

// Documents describe the whole table they are part of, so they look at it only when asked.
function wholeTable(): ReadonlyArray<Route> {
  return routes
}

// biome-ignore format: one group a line
const table = [
  ...operations,
  ...documents(wholeTable),
  ...live,
  ...assets,
  ...consolePages,
  ...adminEvents,
  ...lookups,
  ...emojiIds,
  ...idLists,
  ...storefront,
  ...jsonStore,
  ...records,
  ...tokens,
  ...registry,
  ...prices,
  ...transfers,
  ...auth,
  ...credentials,
  ...twoFactor,
  ...dev,
  ...currentUser,
  ...users,
  ...features,
  ...pubkeys,
  ...wallets,
  ...apiKeys,
  ...interests,
  ...organizations,
  ...members,
  ...organizationKeys,
  ...oauthClients,
  ...proxy,
  ...lootboxTypes,
  ...lootboxes,
  ...cart,
  ...orders,
  ...paymentMethods,
  ...codes,
  ...randomCodes,
  ...webhooks,
  ...sandbox,
  ...authorize,
  ...magicLink,
  ...oauthToken,
  ...partnerGet,
  ...partnerConnect,
  ...partnerManage,
] as const

/** The table as types: the client's calls are a fold over it. */
export type Table = typeof table

type Needs<T> = T extends Route<infer R> ? R : never
export type RouteServices = Needs<(typeof table)[number]>

/** The whole API: router, authentication, decoding, documents and tests are folds over this list. */
export const routes: ReadonlyArray<Route<RouteServices>> = table
