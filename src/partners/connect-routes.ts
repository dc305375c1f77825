import { Effect } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, NotFound } from "../../schema/errors.ts"
import { text } from "../../schema/wire-format.ts"
import { type BrowserSession, BrowserSessions } from "../accounts/sessions/browser-sessions.ts"
import { listOwned } from "../directory/id-lists.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { confirmPage, pickPage } from "./connect-page.ts"
import type { Visitor } from "./page-shell.ts"
import { writeAddresses } from "./record-writes.ts"
import {
  answered,
  findLogin,
  getLogin,
  goBack,
  receiveForm,
  seeOther,
  sentAlongQuery,
  welcome,
} from "./visitor.ts"

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
 * Whose id is connected. The partner's user is rarely its owner: whoever has logged in here counts first, then the
 * partner's user if they own one, and otherwise somebody has to log in.
 */
const getOwner = Effect.fnUntraced(function* (guest: Visitor, named: string | undefined) {
  const { sessionId } = guest.visit
  // A cookie may outlive its login.
  if (sessionId !== undefined && (yield* findLogin(guest)) === undefined) {
    const actor = yield* BrowserSessions.use((sessions) => sessions.findById(sessionId))
    const ids = actor === undefined ? [] : yield* idsOf(actor, named)
    if (actor !== undefined && ids.length > 0) return ownerOf(actor, ids, true)
  }
  const actor = yield* getLogin(guest)
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
  summary: "Flow 2: a partner's user connects an id they have (refresh_token, eid, addresses)",
  method: "get",
  path: "/partner/:partner_path/link-email",
  params,
  search: sentAlongQuery,
  limit: "write",
  redirects: [303],
  errors: [NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      const { guest, query } = yield* welcome(request, "connect")
      if (query["login"] !== undefined)
        yield* getLogin({ ...guest, browser: { ...guest.browser, sessionToken: undefined } })
      const wanted = canonicalOf(query["id"] ?? (query["pick"] === undefined ? guest.visit.eid : undefined))
      const { ids, owner } = yield* getOwner(guest, wanted)
      const only = ids.length === 1 && query["pick"] === undefined ? ids[0] : undefined
      const chosen = ids.find(({ canonical_format }) => canonical_format === wanted) ?? only
      return chosen === undefined ? pickPage(guest, owner) : confirmPage(guest, owner, chosen.display_format)
    }).pipe(answered),
})

const connectForm = route({
  ...formRow,
  id: "partnerConnectForm",
  group: "partner flows",
  summary: "What the person does in flow 2: log in, connect, go back (form)",
  path: "/partner/:partner_path/link-email",
  params,
  limit: "login",
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      const { form, guest } = yield* receiveForm(request, "connect")
      const wanted = canonicalOf(form["emoji_id"])
      const { ids, owner, principal } = yield* getOwner(guest, wanted)
      if (form["action"] !== "connect") return seeOther(guest.home)
      const chosen = ids.find(({ canonical_format }) => canonical_format === wanted)
      if (chosen === undefined) return pickPage(guest, owner, "This id is not yours. Choose another.")
      const eid = chosen.display_format
      const again = ({ message }: { readonly message: string }) =>
        Effect.succeed(confirmPage(guest, owner, eid, message))
      return yield* writeAddresses(principal, eid, guest.visit.addresses).pipe(
        Effect.as(goBack(guest, { eid })),
        Effect.catchTags({ InvalidRequest: again, Unprocessable: again, UnsupportedEmoji: again }),
      )
    }).pipe(answered),
})

export const partnerConnect = [connectPage, connectForm] as const
