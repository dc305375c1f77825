import type { Scope } from "../../schema/accounts/scope.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import type { ErrorFrame } from "../../schema/live-frames.ts"
import type { Principal } from "../http/principal.ts"

/**
 * Who may subscribe. `own`: each user has one channel and subscribes to it by its short name. `party`: the parties of
 * an entity, and users with the scope `overseer`. `public`: all clients, also without a token.
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
  emoji_ids: { who: "own", scope: "userEmoji:list" },
  order: { who: "party", scope: "order:readSelf", overseer: "order:read" },
  transfer: { who: "party", scope: "emoji::transfer", overseer: "adminEmoji:transfer" },
  emoji_id: { who: "public" },
  market: { who: "public" },
} as const satisfies Record<string, Audience>
export type ChannelKind = keyof typeof channelKinds

export interface Channel {
  readonly kind: ChannelKind
  /** The name in the database. */
  readonly name: string
  /** The name that clients see. */
  readonly shown: string
  /** The part of the name after the colon: a user id, an entity id or an emoji id. Empty for the market. */
  readonly key: string
}

export type Refusal = Pick<ErrorFrame, "code" | "error">

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const unknown: Refusal = {
  code: "unknown_channel",
  error: "Unknown channel. See /asyncapi.json for the list of channels.",
}
const loginRequired: Refusal = {
  code: "login_required",
  error: "This channel requires a sign-in. Send a connect frame with a token first.",
}
const missing = (scope: Scope): Refusal => ({
  code: "forbidden",
  error: `This channel requires the scope ${scope}.`,
})
/** The same error for an entity that does not exist and for one of another user, so that existence is not revealed. */
export const notFound: Refusal = {
  code: "not_found",
  error: "This channel does not exist, or you may not subscribe to it.",
}

const isKind = (text: string): text is ChannelKind => Object.hasOwn(channelKinds, text)

/** Parses a channel name sent by a client, and checks the permissions that do not depend on the database. */
export const findChannel = (requested: string, principal: Principal | undefined): Channel | Refusal => {
  const colon = requested.indexOf(":")
  const kind = colon === -1 ? requested : requested.slice(0, colon)
  const key = colon === -1 ? "" : requested.slice(colon + 1)
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

/** Whether this user may receive a channel that has these parties. */
export const mayReceive = (
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
