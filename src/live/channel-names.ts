import type { Scope } from "../../schema/accounts/scope.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { ErrorFrame } from "../../schema/live-frames.ts"
import type { Principal } from "../http/principal.ts"

/**
 * Who may listen. `own`: one channel per user, opened by its short name. `party`: the people an entity concerns, and
 * those whose scope lets them read anybody's. `public`: everybody, also without a token.
 */
type Audience =
  | { readonly who: "public" }
  | { readonly who: "own"; readonly scope?: Scope }
  | { readonly who: "party"; readonly scope: Scope; readonly overseer: Scope }

export const channelKinds = {
  cart: { who: "own", scope: "cart:show" },
  transfers: { who: "own", scope: "emoji::transfer" },
  lootboxes: { who: "own", scope: "lootbox:use" },
  session: { who: "own" },
  interests: { who: "own", scope: "userInterest:read" },
  order: { who: "party", scope: "order:readSelf", overseer: "order:read" },
  transfer: { who: "party", scope: "emoji::transfer", overseer: "adminEmoji:transfer" },
  emoji_id: { who: "public" },
  market: { who: "public" },
} as const satisfies Record<string, Audience>
export type ChannelKind = keyof typeof channelKinds

export interface Channel {
  readonly kind: ChannelKind
  /** As commits name it. */
  readonly name: string
  /** As clients know it. */
  readonly shown: string
  /** What comes after the colon of the name: a user, an entity, an id. Empty for the market. */
  readonly key: string
}

export type Refusal = Pick<ErrorFrame, "code" | "error">

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const unknown: Refusal = { code: "unknown_channel", error: "There is no such channel." }
const loginRequired: Refusal = { code: "login_required", error: "This channel needs a token." }
const missing = (scope: Scope): Refusal => ({
  code: "forbidden",
  error: `This channel needs the scope ${scope}.`,
})
/** The same for an absent and for somebody else's: who is no party learns nothing. */
export const notFound: Refusal = { code: "not_found", error: "There is no such channel, or it is not yours." }

const isKind = (text: string): text is ChannelKind => Object.hasOwn(channelKinds, text)

/** Reads a client's name for a channel, and refuses what no look into the database could allow. */
export const findChannel = (asked: string, principal: Principal | undefined): Channel | Refusal => {
  const colon = asked.indexOf(":")
  const kind = colon === -1 ? asked : asked.slice(0, colon)
  const key = colon === -1 ? "" : asked.slice(colon + 1)
  if (!isKind(kind)) return unknown
  const audience: Audience = channelKinds[kind]

  if (audience.who === "own") {
    if (colon !== -1) return unknown
    if (principal === undefined) return loginRequired
    if (audience.scope !== undefined && !principal.scopes.has(audience.scope)) return missing(audience.scope)
    return { kind, name: `${kind}:${principal.userId}`, shown: kind, key: principal.userId }
  }
  if (audience.who === "party") {
    const id = key.toLowerCase()
    if (!uuid.test(id)) return unknown
    if (principal === undefined) return loginRequired
    if (!principal.scopes.has(audience.scope) && !principal.scopes.has(audience.overseer)) {
      return missing(audience.scope)
    }
    const name = `${kind}:${id}`
    return { kind, name, shown: name, key: id }
  }
  if (kind === "market") return colon === -1 ? { kind, name: kind, shown: kind, key: "" } : unknown
  const id = parseEmojiId(key)
  if (id._tag === "EmojiIdRefused") return { code: "unknown_channel", error: id.message }
  const name = `${kind}:${id.canonical}`
  return { kind, name, shown: name, key: id.canonical }
}

export const hasParties = (kind: ChannelKind): boolean => channelKinds[kind].who === "party"

/** Whether a channel with these parties is still this caller's to hear. */
export const mayHear = (
  kind: ChannelKind,
  principal: Principal | undefined,
  parties: ReadonlyArray<string | null> | null,
): boolean => {
  const audience: Audience = channelKinds[kind]
  if (audience.who !== "party") return true
  if (principal === undefined || parties === null) return false
  return (
    principal.scopes.has(audience.overseer) ||
    (principal.scopes.has(audience.scope) && parties.includes(principal.userId))
  )
}
