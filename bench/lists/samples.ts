import { entityIdAt } from "../stored/entities.ts"
import { organizationIdAt } from "../stored/every-table.ts"
import { canonicalAt, webPage } from "../stored/ids.ts"
import { emailAt, userIdAt } from "../stored/people.ts"

/** Returns a text for row n of the stored data. User n may read it. */
export type Sample = (n: number) => string

const emojiId: Sample = (n) => canonicalAt(n)
const always =
  (text: string): Sample =>
  () =>
    text

/** GET routes that are not measured, each with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  asset: "a file in memory, whose name depends on its contents",
  live: "a WebSocket",
}

/** The values of path parameters. `id` depends on the path. */
export const pathSamples: Readonly<Record<string, Sample>> = {
  emoji_id: emojiId,
  key: always("VisualizerName"),
  page: always("lookup"),
  partner_path: (n) => `bench-${n}`,
  session: (n) => `cs_bench_${n}`,
  tag: always("BTC"),
  token_id: (n) => String(n + 1),
  user_id: userIdAt,
  "/lootboxes/:id": entityIdAt,
  "/orders/:id": entityIdAt,
  "/organizations/:id": organizationIdAt,
  "/users/:id": userIdAt,
}

/**
 * The values of query parameters that are no enumeration. Each value is one more request of the route. Parameters with an
 * empty list change only the page that a browser gets.
 */
export const querySamples: Readonly<Record<string, readonly Sample[]>> = {
  action: [],
  accepted: [always("true"), always("false")],
  accepted_after: [always("2020-01-01T00:00:00.000Z")],
  all: [always("true")],
  address_json: [],
  addresses: [],
  client_id: [],
  code_challenge: [],
  code_challenge_method: [],
  eid: [],
  eids: [],
  emoji_id: [emojiId],
  holds_money: [always("true"), always("false")],
  kind: [always("cart"), always("none")],
  limit: [always("20")],
  link: [],
  max_length: [always("3")],
  max_price: [always("2000")],
  min_length: [always("2")],
  min_price: [always("500")],
  network: [always("bitcoin")],
  order_number: [(n) => entityIdAt(n).slice(-8)],
  organization_id: [organizationIdAt],
  owner_id: [userIdAt],
  page: [always("3")],
  partner_conversion_id: [],
  partner_transaction_id: [],
  proof: [always("true")],
  redirect: [],
  redirect_uri: [],
  refresh_token: [],
  scope: [],
  search: [(n) => emailAt(n), userIdAt, emojiId],
  sender_id: [userIdAt],
  state: [],
  status: [always("Available"), always("Used")],
  svc: [],
  tags: [always(webPage.tag)],
  token: [],
  user_id: [userIdAt],
}

/** Query parameters that a route cannot answer without. Each request of the route has them. */
export const requiredQueries: Readonly<Record<string, Readonly<Record<string, Sample>>>> = {
  authorize: {
    response_type: always("code"),
    client_id: (n) => `bench-${n}`,
    redirect_uri: always("https://app.example/back"),
    scope: always("svc"),
    state: always("s"),
  },
  confirmRecord: { tag: always(webPage.tag), data: always(webPage.data) },
  devOutbox: { to: (n) => emailAt(n) },
  linkRedirect: { emoji_id: emojiId },
  loadJsonIndex: { keys: always("VisualizerName") },
  resolveEmojiID: { asset: always("BTC") },
  searchEmojiID: { emoji_id: emojiId },
  walletChallenge: { source: always("Mint") },
}

/**
 * The responses that are not 200, by the route, or by the route and the caller: redirects, pages for a login that the
 * request does not have, and what only a user has.
 */
export const otherStatuses: Readonly<Record<string, number>> = {
  consoleSearch: 303,
  linkRedirect: 302,
  magicLink: 400,
  magicLinkCode: 400,
  magicLinkDone: 400,
  partnerCreate: 303,
  passwordResetDone: 303,
  "getUserInterestForYat admin": 404,
}
