import { Effect } from "effect"
import { type EmojiId, parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { Conflict, Forbidden, NotFound, Unprocessable } from "../../schema/errors.ts"
import { text } from "../../schema/wire-format.ts"
import type { BrowserSession } from "../accounts/sessions/browser-sessions.ts"
import { listOwned } from "../directory/id-lists.ts"
import { checkRegistered, Lookups } from "../directory/lookup/lookups.ts"
import { Records } from "../directory/records.ts"
import { writePermissionOf } from "../directory/write-permission.ts"
import type { Form } from "../http/request/form.ts"
import { route } from "../http/route.ts"
import { formRow, pageRow } from "../web/page-route.ts"
import { partnerQuery } from "./link-parameters.ts"
import { ownedPage, type RecordsShown, recordsPage } from "./manage-page.ts"
import type { Visitor } from "./page-shell.ts"
import { storePartnerIds } from "./partner-id-store.ts"
import { writeAddresses } from "./record-writes.ts"
import { getActor, openFlow, receiveForm, seeOther, sendEarlyReply } from "./visitor.ts"

const params = { partner_path: text(64) }

const idsOf = (actor: BrowserSession, named?: EmojiId) => listOwned(actor.account.id, named?.canonical)

const parse = (typed: string | undefined): EmojiId | undefined => {
  const id = parseEmojiId(typed ?? "")
  return id._tag === "EmojiId" ? id : undefined
}

const show = Effect.fnUntraced(function* (
  visitor: Visitor,
  actor: BrowserSession,
  wanted: EmojiId | undefined,
  more: Partial<Pick<RecordsShown, "failed" | "saved" | "typed">> = {},
) {
  const ids = yield* idsOf(actor, wanted)
  const chosen = ids.find(({ canonical_format }) => canonical_format === wanted?.canonical)
  const id = parse(chosen?.canonical_format)
  if (chosen === undefined || id === undefined) {
    return ownedPage(
      visitor,
      ids.map(({ display_format }) => display_format),
    )
  }
  const { result: records = [] } = yield* checkRegistered(yield* Lookups.use((lookups) => lookups.find(id)))
  const has = new Set(records.map(({ hash }) => hash))
  return recordsPage(visitor, {
    id: chosen.display_format,
    count: ids.length,
    records,
    offered: visitor.visit.addresses.filter(({ hash }) => !has.has(hash)),
    ...more,
  })
})

const managePage = route({
  ...pageRow,
  id: "partnerManage",
  group: "partner flows",
  summary: "Show partner flow 3: manage ids",
  description:
    "Open it in a browser with `refresh_token` and `addresses`. The user adds records to ids and removes them.",
  method: "get",
  path: "/partner/:partner_path/manage",
  params,
  search: partnerQuery,
  limit: "write",
  redirects: [303],
  errors: [NotFound],
  handler: (request) =>
    Effect.gen(function* () {
      const { visitor, query } = yield* openFlow(request, "manage")
      const actor = yield* getActor(visitor)
      const ids = query["all"] === undefined ? yield* idsOf(actor) : []
      const only = ids.length === 1 ? ids[0]?.canonical_format : undefined
      const wanted = query["all"] === undefined ? (query["id"] ?? visitor.visit.eid ?? only) : undefined
      const saved = query["saved"] === undefined ? {} : { saved: true }
      return yield* show(visitor, actor, parse(wanted), saved)
    }).pipe(sendEarlyReply),
})

const edit = Effect.fnUntraced(function* (visitor: Visitor, actor: BrowserSession, id: EmojiId, form: Form) {
  const { data = "", hash = "", tag = "" } = form
  const records = yield* Records
  const permission = writePermissionOf(actor.principal)
  switch (form["action"]) {
    case "add":
      return yield* Effect.asVoid(records.edit(id, permission, { insert: [{ tag, data: data.trim() }] }))
    case "delete":
      return yield* Effect.asVoid(records.edit(id, permission, { delete: [hash] }))
    case "given":
      return yield* writeAddresses(actor.principal, id.canonical, visitor.visit.addresses)
    default:
      return
  }
})

const manageForm = route({
  ...formRow,
  id: "partnerManageForm",
  keyless: true,
  group: "partner flows",
  summary: "Submit the form of partner flow 3",
  description: "The page sends it: add or remove records.",
  path: "/partner/:partner_path/manage",
  params,
  limit: "login",
  redirects: [302, 303],
  errors: [Conflict, Forbidden, NotFound, Unprocessable],
  handler: (request) =>
    Effect.gen(function* () {
      const { form, visitor } = yield* receiveForm(request, "manage")
      const actor = yield* getActor(visitor)
      const id = parse(form["emoji_id"])
      const ids = yield* idsOf(actor, id)
      if (id === undefined || !ids.some(({ canonical_format }) => canonical_format === id.canonical)) {
        return seeOther(visitor.home)
      }
      const again = ({ message }: { readonly message: string }) =>
        show(visitor, actor, id, {
          failed: message,
          typed: { tag: form["tag"] ?? "", data: form["data"] ?? "" },
        })
      return yield* edit(visitor, actor, id, form).pipe(
        Effect.andThen(storePartnerIds(actor.account.id, visitor.visit)),
        Effect.as(seeOther(`${visitor.home}?${new URLSearchParams({ id: id.canonical, saved: "" })}`)),
        Effect.catchTags({ InvalidRequest: again, Unprocessable: again, UnsupportedEmoji: again }),
      )
    }).pipe(sendEarlyReply),
})

export const partnerManage = [managePage, manageForm] as const
