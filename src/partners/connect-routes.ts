import { Effect } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, NotFound, Unprocessable } from "../../schema/errors.ts"
import { text } from "../../schema/wire-format.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { listOwned } from "../directory/id-lists.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { confirmPage, pickPage } from "./connect-page.ts"
import { partnerQuery } from "./link-parameters.ts"
import type { Visitor } from "./page-shell.ts"
import { storePartnerIds } from "./partner-id-store.ts"
import { writeAddresses } from "./record-writes.ts"
import { goBack } from "./return.ts"
import { findLogin, getLogin, openFlow, receiveForm, seeOther, sendEarlyReply } from "./visitor.ts"

const params = { partner_path: text(64) }

const idsOf = (actor: BrowserSession, named: string | undefined) => listOwned(actor.account.id, named)

const ownerOf = (
  { account, principal }: BrowserSession,
  ids: Effect.Success<ReturnType<typeof idsOf>>,
  isPartnersUser: boolean,
) => ({
  ids,
  principal,
  owner: { email: account.email, ids: ids.map(({ display_format }) => display_format), isPartnersUser },
})

/**
 * Finds the user whose ids can be connected. A user who is logged in on this site is preferred, because the partner's
 * user rarely owns an id. If nobody is logged in on this site, and the partner's user owns an id, the result is the
 * partner's user. Otherwise the login page is shown.
 */
const getOwner = Effect.fnUntraced(function* (visitor: Visitor, named: string | undefined) {
  const { sessionId } = visitor.visit
  // The login is looked up, because the cookie may belong to a login that has ended.
  if (sessionId !== undefined && (yield* findLogin(visitor)) === undefined) {
    const actor = yield* BrowserSessions.use((sessions) => sessions.findById(sessionId))
    const ids = actor === undefined ? [] : yield* idsOf(actor, named)
    if (actor !== undefined && ids.length > 0) return ownerOf(actor, ids, true)
  }
  const actor = yield* getLogin(visitor)
  return ownerOf(actor, yield* idsOf(actor, named), false)
})

const canonicalOf = (typed: string | undefined): string | undefined => {
  const id = parseEmojiId(typed ?? "")
  return id._tag === "EmojiId" ? id.canonical : undefined
}

const connectPage = route({
  ...pageRow,
  id: "partnerConnect",
  group: "partner flows",
  summary: "Show partner flow 2: connect an id",
  description:
    "Open it in a browser with `refresh_token`, `eid` and `addresses`. The user logs in with an existing account and adds the addresses to an id.",
  method: "get",
  path: "/partner/:partner_path/link-email",
  params,
  search: partnerQuery,
  limit: "write",
  redirects: [303],
  errors: [NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      const { visitor, query } = yield* openFlow(request, "connect")
      if (query["login"] !== undefined)
        yield* getLogin({ ...visitor, browser: { ...visitor.browser, sessionToken: undefined } })
      const wanted = canonicalOf(query["id"] ?? (query["pick"] === undefined ? visitor.visit.eid : undefined))
      const { ids, owner } = yield* getOwner(visitor, wanted)
      const only = ids.length === 1 && query["pick"] === undefined ? ids[0] : undefined
      const chosen = ids.find(({ canonical_format }) => canonical_format === wanted) ?? only
      return chosen === undefined
        ? pickPage(visitor, owner)
        : confirmPage(visitor, owner, chosen.display_format)
    }).pipe(sendEarlyReply),
})

const connectForm = route({
  ...formRow,
  id: "partnerConnectForm",
  keyless: true,
  group: "partner flows",
  summary: "Submit the form of partner flow 2",
  description: "The page sends it: sign in, connect an id, or cancel.",
  path: "/partner/:partner_path/link-email",
  params,
  limit: "login",
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound, Unprocessable],
  handler: (request) =>
    Effect.gen(function* () {
      const { form, visitor } = yield* receiveForm(request, "connect")
      const wanted = canonicalOf(form["emoji_id"])
      const { ids, owner, principal } = yield* getOwner(visitor, wanted)
      if (form["action"] !== "connect") return seeOther(visitor.home)
      const chosen = ids.find(({ canonical_format }) => canonical_format === wanted)
      if (chosen === undefined)
        return pickPage(visitor, owner, "You do not own this emoji id. Choose another one.")
      const eid = chosen.display_format
      const again = ({ message }: { readonly message: string }) =>
        Effect.succeed(confirmPage(visitor, owner, eid, message))
      return yield* writeAddresses(principal, eid, visitor.visit.addresses).pipe(
        Effect.andThen(storePartnerIds(principal.userId, visitor.visit)),
        Effect.as(goBack(visitor, { eids: [eid] })),
        Effect.catchTags({ InvalidRequest: again, Unprocessable: again, UnsupportedEmoji: again }),
      )
    }).pipe(sendEarlyReply),
})

export const partnerConnect = [connectPage, connectForm] as const
