import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import { type Html, html } from "../web/html.ts"
import { bigId, spokenName } from "../web/id-tile.ts"
import { page } from "../web/page.ts"
import { recordLine } from "../web/record-view.ts"

/** The result of the lookup in the URL. The server renders it into the page. */
export type Finding =
  | { readonly refused: string }
  | {
      readonly id: EmojiId
      readonly rhythmScore: number
      /** Undefined when the id is not registered. */
      readonly records: ReadonlyArray<DirectoryRecord> | undefined
    }

const findingView = (finding: Finding): Html => {
  if ("refused" in finding) return html`<p class="bad" role="alert">${finding.refused}</p>`
  const { id, records, rhythmScore } = finding
  return html`<section class="card" aria-label="Lookup result">
<p class="center">${bigId(id.canonical, "huge")}</p>
<p class="center soft">${spokenName(id.canonical)} · rhythm score ${rhythmScore}</p>
${
  records === undefined
    ? html`<p class="center">This id is not registered.</p>`
    : records.length === 0
      ? html`<p class="center">This id is registered but has no records.</p>`
      : html`<ul class="records">${records.map((record) => html`<li>${recordLine(record)}</li>`)}</ul>`
}
</section>`
}

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
}

/** Renders the console page. Without JavaScript the page can still look up an id. */
export const consolePage = ({
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
<a class="home" href="/"><span class="home-mark" aria-hidden="true">🧭</span> Emoji Id Directory</a>
<nav id="views" aria-label="Main" hidden></nav>
<div id="account" class="bar-end"></div>
</header>
<main id="view" tabindex="-1" data-human data-development="${isDevelopment ? "yes" : "no"}" data-browser-login="${hasBrowserLogin ? "yes" : "no"}" data-payment-methods="${paymentMethods.join(" ")}">
<h1>Look up an emoji id</h1>
<p class="soft">An emoji id is a short sequence of emoji that points to payment addresses, links and keys.</p>
<form method="get" action="/" role="search">
<label for="asked">Emoji id</label>
<div class="id-field"><input id="asked" name="emoji_id" value="${query}" autocomplete="off" spellcheck="false" maxlength="200" required>
<button>Look up</button></div>
</form>
${finding !== undefined && findingView(finding)}
<noscript><p class="soft">Search, purchases and transfers on this page need JavaScript. You can also use the API.</p></noscript>
</main>
<div id="notices" class="notices" role="status" aria-live="polite"></div>
<footer class="soft small"><a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/asyncapi.json">AsyncAPI</a> <span id="live-state" class="live-state"></span></footer>`,
  })
