import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import { assetUrl } from "../web/assets.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { bigId, spokenName } from "../web/id-tile.ts"
import { page } from "../web/page.ts"
import { readRecord } from "../web/record-view.ts"
import type { DemoFacts } from "./demo-facts.ts"

/** The result of the lookup in the URL. The server renders it into the page. */
export type Finding =
  | { readonly refused: string }
  | {
      readonly id: EmojiId
      readonly rhythmScore: number
      /** Undefined when the id is not registered. */
      readonly records: ReadonlyArray<DirectoryRecord> | undefined
    }

/** Shows a record as the script does, without the buttons. */
const recordView = (record: DirectoryRecord): Html => {
  const { href, more, name, value } = readRecord(record)
  const shown = html`<code>${value}</code>`
  const linked =
    href !== undefined && html`<a class="record-link" href="${href}" rel="noopener noreferrer">${shown}</a>`
  return html`<li class="lookup-record"><span class="record"><span class="record-name"><strong>${name}</strong></span>${linked || shown}${more !== "" && html`<span class="soft small">${more}</span>`}</span></li>`
}

const recordsView = (records: ReadonlyArray<DirectoryRecord>): Html =>
  html`<ul class="records">${records.length === 0 ? html`<li class="soft">This id has no records yet.</li>` : records.map(recordView)}</ul>`

const findingView = (finding: Finding): Html => {
  if ("refused" in finding)
    return html`<section class="card lookup" aria-label="Lookup result"><p class="bad" role="alert">${finding.refused}</p></section>`
  const { id, records, rhythmScore } = finding
  const offer = html`<noscript><p class="center soft">Nobody has this id yet. Its price is shown with JavaScript.</p></noscript>`
  return html`<section class="card lookup" aria-label="Lookup result">
<p class="center">${bigId(id.canonical, "huge")}</p>
<p class="center soft">${spokenName(id.canonical)} · Rhythm score ${rhythmScore}</p>
<p class="center"><span class="badge${records !== undefined && " good"}">${records === undefined ? "Not registered" : "Registered"}</span></p>
${records === undefined ? offer : recordsView(records)}
</section>`
}

const demoView = (ids: ReadonlyArray<string>): Content =>
  ids.length > 0 &&
  html`<section class="try" aria-label="Examples"><h2 class="small soft">Try one of these</h2>
<ul class="story">${ids.map((id) => html`<li><a class="story-id" href="/?emoji_id=${encodeURIComponent(id)}">${bigId(id)}</a></li>`)}</ul></section>`

export interface ConsoleFacts {
  /** The id as the user typed it. */
  readonly query: string
  readonly finding: Finding | undefined
  /** True outside production, where sent mail can be read without authentication. */
  readonly isDevelopment: boolean
  /** Whether this browser has a session cookie, which a magic link or a sign-in page has set. */
  readonly hasBrowserLogin: boolean
  /** The configured payment methods. The console offers only these. */
  readonly paymentMethods: ReadonlyArray<string>
  readonly demo: DemoFacts
}

/** Renders the console page. Without JavaScript the page can still look up an id. */
export const consolePage = ({
  demo,
  query,
  finding,
  hasBrowserLogin,
  isDevelopment,
  paymentMethods,
}: ConsoleFacts) =>
  page({
    title: "Emoji Id Directory",
    wide: true,
    script: "console",
    body: html`<a class="skip" href="#view">Skip to content</a>
<header class="bar">
<a class="home" href="/"><img src="${assetUrl("icon.svg")}" alt="" width="28" height="28"> Emoji Id Directory</a>
<nav id="views" aria-label="Main" hidden></nav>
<div id="account" class="bar-end"></div>
</header>
<div id="connection" class="connection" role="status"></div>
<main id="view" tabindex="-1" data-human data-development="${isDevelopment ? "yes" : "no"}" data-browser-login="${hasBrowserLogin ? "yes" : "no"}" data-payment-methods="${paymentMethods.join(" ")}" data-demo="${JSON.stringify(demo)}">
<h1>Look up an emoji id</h1>
<p class="lead soft">An emoji id is a short name made of emoji. It leads to the payment addresses, links and keys of its owner.</p>
<form method="get" action="/" role="search">
<label for="asked">Emoji id</label>
<div class="id-field"><input id="asked" name="emoji_id" value="${query}" autocomplete="off" spellcheck="false" maxlength="200" required>
<button>Look up</button></div>
</form>
${finding === undefined ? demoView(demo.ids) : findingView(finding)}
<noscript><p class="soft">Search, purchases and transfers on this page need JavaScript. You can also use the API.</p></noscript>
</main>
<div id="notices" class="notices" role="status" aria-live="polite"></div>
<footer class="soft small"><a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/asyncapi.json">AsyncAPI</a> <span id="live-state" class="live-state"></span></footer>`,
  })
