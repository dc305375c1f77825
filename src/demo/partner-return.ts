import { Effect, Schema } from "effect"
import { parseEmojiId } from "../../schema/directory/emoji-id.ts"
import { NotFound } from "../../schema/errors.ts"
import { AppConfig } from "../config/read-config.ts"
import { readParameters } from "../http/request/form.ts"
import { route } from "../http/route.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { bigId } from "../web/id-tile.ts"
import { page } from "../web/page.ts"
import { pageRow } from "../web/page-route.ts"
import { partnerReturnPath } from "./partner-facts.ts"

type Values = Readonly<Record<string, string>>

const outcomes: Readonly<Record<string, string>> = {
  create: "You got an emoji id",
  connect: "You connected your emoji id",
  manage: "You changed your emoji ids",
}

/** The ids that the directory returned. Values that are no ids are left out. */
const idsOf = ({ eid = "", eids = eid }: Values): ReadonlyArray<string> =>
  eids.split(",").flatMap((text) => {
    const id = parseEmojiId(text)
    return id._tag === "EmojiId" ? [id.canonical] : []
  })

const meanings: Readonly<Record<string, string>> = {
  action: "What the user did: create, connect or manage",
  eid: "The id that the wallet shows for this user",
  eids: "All ids that the user chose",
  status: "“aborted” if the user cancelled",
  refresh_token: "The sign-in that the wallet sent. The wallet replaces its own copy with it",
}

const received = (values: Values): Content => {
  const known = Object.keys(meanings).filter((name) => values[name] !== undefined)
  return (
    known.length > 0 &&
    html`<section class="card"><h2 class="first">What the directory told the wallet</h2>
<p class="soft small">These values are in the address of this page.</p>
<ul class="records">${known.map(
      (name) =>
        html`<li><span class="record"><strong>${name}</strong><br><span class="soft small">${meanings[name]}</span></span><span class="end">${
          name === "refresh_token" ? "a secret, not shown" : values[name]
        }</span></li>`,
    )}</ul></section>`
  )
}

const nextSteps = (ids: ReadonlyArray<string>): Html => {
  const [id = ""] = ids
  const path = `/emoji_id/${encodeURIComponent(id)}`
  return html`<section class="card"><h2 class="first">What a real wallet does now</h2>
<ol><li>It stores <strong>${id}</strong> with the account of this user.</li>
<li>It reads the addresses with <a href="${path}"><code>GET ${`/emoji_id/${id}`}</code></a> and checks that they are the user's own.</li>
<li>It shows the id in the wallet, so that others can pay to it.</li></ol></section>`
}

const resultPage = (values: Values, flowUrl: string) => {
  const ids = idsOf(values)
  const isAborted = values["status"] === "aborted"
  const title = isAborted
    ? "Nothing was changed"
    : ids.length === 0
      ? "The wallet received no emoji id"
      : (outcomes[values["action"] ?? ""] ?? "You are back in the wallet")
  return page({
    title: `${title} · Demo Wallet`,
    body: html`<header class="brand"><span class="monogram" aria-hidden="true">D</span><span>Demo Wallet</span></header>
<main><p class="eyebrow">You are back in the wallet that sent you</p>
<h1>${title}</h1>
${ids.map((id) => html`<p class="center">${bigId(id, "huge")}</p>`)}
<p>This page stands for a wallet that uses the directory. ${
      isAborted
        ? "You cancelled, so the wallet got no emoji id. A real wallet continues without one."
        : ids.length > 0
          ? "The directory sent you back to it with the result."
          : "It is reached at the end of the partner pages, with the result in its address."
    }</p>
${received(values)}
${!isAborted && ids.length > 0 && nextSteps(ids)}
<div class="row">${ids[0] !== undefined && html`<a class="button" href="/?emoji_id=${encodeURIComponent(ids[0])}">View the id in the directory</a>`}
<a class="button ${ids.length > 0 ? "plain" : ""}" href="${flowUrl}">Start again</a>
<a href="/">Go to the directory</a></div>
</main>`,
  })
}

const show = route({
  ...pageRow,
  id: "demoPartner",
  summary: "Show what the demo partner receives at the end of a partner flow. Not available in production",
  method: "get",
  path: partnerReturnPath,
  internal: true,
  search: Object.fromEntries(
    Object.keys(meanings).map((name) => [name, Schema.optionalKey(Schema.String)] as const),
  ),
  errors: [NotFound],
  handler: ({ search }) =>
    Effect.gen(function* () {
      const { production, webUrl } = yield* AppConfig
      if (production) return yield* new NotFound({ error: "Path not found." })
      const values = readParameters(search)?.values ?? {}
      return resultPage(values, `${webUrl}/partner/demo-wallet`)
    }),
})

export const demoPages = [show] as const
