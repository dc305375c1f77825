import { apiKeys } from "./accounts/api-keys/routes.ts"
import { features } from "./accounts/feature-routes.ts"
import { auth } from "./accounts/login/routes.ts"
import { registration } from "./accounts/registration-routes.ts"
import { securityLog } from "./accounts/security-log/routes.ts"
import { sessions } from "./accounts/sessions/routes.ts"
import { twoFactor } from "./accounts/two-factor/routes.ts"
import { users } from "./accounts/user-routes.ts"
import { consolePages } from "./console/routes.ts"
import { currentUser } from "./current-user/routes.ts"
import { demoPages } from "./demo/partner-return.ts"
import { emojiIds } from "./directory/emoji-routes.ts"
import { idRegistry } from "./directory/id-registry-routes.ts"
import { jsonStore } from "./directory/json-store-routes.ts"
import { idLists } from "./directory/list-routes.ts"
import { resolves } from "./directory/lookup/resolve-routes.ts"
import { lookups } from "./directory/lookup/routes.ts"
import { records } from "./directory/record-routes.ts"
import { documents } from "./docs-page/routes.ts"
import { histories } from "./history/routes.ts"
import type { Route } from "./http/route.ts"
import { pubkeys } from "./keys/pubkey-routes.ts"
import { wallets } from "./keys/wallet-routes.ts"
import { live } from "./live/routes.ts"
import { lootboxes } from "./lootboxes/routes.ts"
import { lootboxTypes } from "./lootboxes/type-routes.ts"
import { interests } from "./market/interest-routes.ts"
import { prices } from "./market/price-routes.ts"
import { storefront } from "./market/routes.ts"
import { mintedIds } from "./minting/minted-routes.ts"
import { tokens } from "./minting/routes.ts"
import { adminEvents } from "./operations/admin-event-routes.ts"
import { dev } from "./operations/dev-routes.ts"
import { adminFigures } from "./operations/figures-routes.ts"
import { operations } from "./operations/routes.ts"
import { versionRoutes } from "./operations/version-routes.ts"
import { cart } from "./orders/cart/routes.ts"
import { randomCodes } from "./orders/codes/random-routes.ts"
import { codes } from "./orders/codes/routes.ts"
import { paymentMethods } from "./orders/payments/payment-method-routes.ts"
import { sandbox } from "./orders/payments/sandbox-routes.ts"
import { webhooks } from "./orders/payments/webhook-routes.ts"
import { orders } from "./orders/routes.ts"
import { codeBudgets } from "./organizations/code-budget-routes.ts"
import { members } from "./organizations/member-routes.ts"
import { organizationKeys } from "./organizations/organization-key-routes.ts"
import { organizations } from "./organizations/routes.ts"
import { partnerConnect } from "./partners/connect-routes.ts"
import { partnerGet } from "./partners/get-id-routes.ts"
import { partnerManage } from "./partners/manage-routes.ts"
import { proofRoutes } from "./proofs/routes.ts"
import { proxy } from "./proxy/routes.ts"
import { magicLink } from "./sign-in/magic-link-routes.ts"
import { authorize } from "./sign-in/oauth/authorize-routes.ts"
import { oauthClients } from "./sign-in/oauth/client-routes.ts"
import { grantedApplications } from "./sign-in/oauth/granted-application-routes.ts"
import { oauthToken } from "./sign-in/oauth/token-routes.ts"
import { passwordReset } from "./sign-in/password-reset-routes.ts"
import { transfers } from "./transfers/routes.ts"
import { assets } from "./web/asset-routes.ts"

// The document routes describe the table that contains them, so they read it only when they are called.
function wholeTable(): ReadonlyArray<Route> {
  return routes
}

// biome-ignore format: one group a line
const table = [
  ...operations,
  ...versionRoutes,
  ...documents(wholeTable),
  ...live,
  ...assets,
  ...consolePages,
  ...adminEvents,
  ...adminFigures,
  ...demoPages,
  ...lookups,
  ...resolves,
  ...histories,
  ...proofRoutes,
  ...emojiIds,
  ...idLists,
  ...storefront,
  ...jsonStore,
  ...records,
  ...tokens,
  ...mintedIds,
  ...idRegistry,
  ...prices,
  ...transfers,
  ...auth,
  ...registration,
  ...twoFactor,
  ...sessions,
  ...dev,
  ...currentUser,
  ...users,
  ...securityLog,
  ...features,
  ...pubkeys,
  ...wallets,
  ...apiKeys,
  ...interests,
  ...organizations,
  ...members,
  ...organizationKeys,
  ...codeBudgets,
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
  ...passwordReset,
  ...oauthToken,
  ...grantedApplications,
  ...partnerGet,
  ...partnerConnect,
  ...partnerManage,
] as const

type Needs<T> = T extends Route<infer R> ? R : never
export type RouteServices = Needs<(typeof table)[number]>

/** All routes. The router, authentication, decoding, documents and tests are derived from this list. */
export const routes: ReadonlyArray<Route<RouteServices>> = table
