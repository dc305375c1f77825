import { Effect, Schema } from "effect"
import { TokenResponse } from "../../schema/accounts/session.ts"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { rhythmScore } from "../../schema/directory/rhythm-score.ts"
import { Forbidden, NotFound, Unauthorized } from "../../schema/errors.ts"
import { privately } from "../accounts/login/routes.ts"
import { BrowserCookies } from "../accounts/sessions/browser-cookies.ts"
import { AppConfig } from "../config/read-config.ts"
import { notRegistered, readAnswer } from "../directory/lookup/answer.ts"
import { type AdmitCold, admitCold } from "../directory/lookup/cold-limit.ts"
import { Lookups } from "../directory/lookup/lookups.ts"
import { readParameters } from "../http/request/form.ts"
import { Reply } from "../http/response/reply.ts"
import { route } from "../http/route.ts"
import { Payments } from "../orders/payments/payments.ts"
import { logInFromBrowser } from "../sign-in/console-login.ts"
import { pageRow } from "../web/page-route.ts"
import { demoFacts } from "./demo-facts.ts"
import { vocabulary } from "./labels.ts"
import { consolePage, type Finding } from "./page.ts"

const find = Effect.fnUntraced(function* (typed: string, admit: AdmitCold) {
  const id = parseEmojiId(typed.trim())
  if (id._tag === "EmojiIdRefused") return { refused: id.message } satisfies Finding
  const lookup = yield* Lookups.use((lookups) => lookups.view(id, admit))
  const records = lookup === notRegistered ? undefined : readAnswer(lookup).result
  return { id, rhythmScore: rhythmScore(id), records } satisfies Finding
})

const show = route({
  ...pageRow,
  id: "console",
  summary: "Show the console page. With emoji_id, include the lookup result",
  description:
    "An HTML page for people: look up, buy, manage and transfer emoji ids. It works without JavaScript for lookups.",
  method: "get",
  path: "/",
  query: { emoji_id: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(1024))) },
  errors: [],
  needsAddress: true,
  headers: [...pageRow.headers, "host"],
  handler: ({ query, ...request }) =>
    Effect.gen(function* () {
      const { production } = yield* AppConfig
      const { sessionToken } = (yield* BrowserCookies).read(request.headers)
      const typed = query.emoji_id ?? ""
      const finding = typed.trim() === "" ? undefined : yield* find(typed, admitCold(request))
      return consolePage({
        query: typed,
        finding,
        isDevelopment: !production,
        hasBrowserLogin: sessionToken !== undefined,
        paymentMethods: (yield* Payments).methods,
        demo: yield* demoFacts({ address: request.address, host: request.headers.host ?? "" }),
      })
    }),
})

/** Wallets send users who want an id to `/create`. Other parameters, such as a refresh token, are dropped. */
const search = route({
  ...pageRow,
  id: "consoleSearch",
  summary: "Redirect to the console's search. With eid, search for this id",
  description:
    "Redirects a browser to the search of the console. The address exists because clients of the original service open it.",
  method: "get",
  path: "/create",
  search: { eid: Schema.optionalKey(Schema.String) },
  redirects: [303],
  errors: [],
  handler: (request) => {
    const id = parseEmojiId(readParameters(request.search)?.values["eid"] ?? "")
    const path = id._tag === "EmojiId" ? `/#/market/${encodeURIComponent(id.canonical)}` : "/#/market"
    return Effect.succeed(
      Reply.redirect(path, { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }, 303),
    )
  },
})

const words = Effect.succeed(Reply.json(vocabulary, { headers: { "Cache-Control": "public, max-age=3600" } }))

const readVocabulary = route({
  id: "consoleVocabulary",
  group: "pages",
  summary: "List the names of emoji and record categories for the console",
  method: "get",
  path: "/console/vocabulary",
  auth: "none",
  internal: true,
  success: Schema.Unknown,
  errors: [],
  handler: () => words,
})

const logIn = route({
  id: "consoleSession",
  keyless: true,
  group: "pages",
  summary: "Sign in to the console with the browser session of a magic link",
  method: "post",
  path: "/console/session",
  auth: "none",
  internal: true,
  sameOrigin: true,
  limit: "login",
  headers: ["cookie", "sec-fetch-site"],
  success: TokenResponse,
  errors: [Forbidden, NotFound, Unauthorized],
  handler: ({ headers }) => Effect.map(logInFromBrowser(headers), privately),
})

export const consolePages = [show, search, readVocabulary, logIn] as const
