import type { EmojiId } from "../../schema/directory/emoji-id.ts"
import type { DirectoryRecord } from "../../schema/directory/record.ts"
import { type Html, html } from "../web/html.ts"
import { bigId, spokenName } from "../web/id-tile.ts"
import { page } from "../web/page.ts"
import { recordLine } from "../web/record-view.ts"

/** What a lookup on the page itself came to. */
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
  return html`<section class="card" aria-label="What was found">
<p class="center">${bigId(id.canonical, "huge")}</p>
<p class="center soft">${spokenName(id.canonical)} · rhythm score ${rhythmScore}</p>
${
  records === undefined
    ? html`<p class="center">Nobody has registered this id.</p>`
    : records.length === 0
      ? html`<p class="center">Registered, without records.</p>`
      : html`<ul class="records">${records.map((record) => html`<li>${recordLine(record)}</li>`)}</ul>`
}
</section>`
}

export interface ConsoleFacts {
  /** As it was typed. */
  readonly asked: string
  readonly finding: Finding | undefined
  /** Whether mailed codes may be read by anybody, as while developing. */
  readonly isDevelopment: boolean
  /** Whether a mailed link has logged somebody in in this browser. */
  readonly hasBrowserLogin: boolean
  /** What a buyer can pay with. The console offers nothing else. */
  readonly paymentMethods: ReadonlyArray<string>
}

/** The console. Without its script it still answers what an id points at. */
export const consolePage = ({
  asked,
  finding,
  hasBrowserLogin,
  isDevelopment,
  paymentMethods,
}: ConsoleFacts) =>
  page({
    title: "Emoji Id Directory",
    wide: true,
    styles: ["console-style.css"],
    scripts: ["console-main.js"],
    body: html`<a class="skip" href="#view">Skip to the content</a>
<header class="bar">
<a class="home" href="/"><span class="home-mark" aria-hidden="true">🧭</span> Emoji Id Directory</a>
<nav id="views" aria-label="Views" hidden></nav>
<div id="account" class="bar-end"></div>
</header>
<main id="view" tabindex="-1" data-development="${isDevelopment ? "yes" : "no"}" data-browser-login="${hasBrowserLogin ? "yes" : "no"}" data-payment-methods="${paymentMethods.join(" ")}">
<h1>Look up an emoji id</h1>
<p class="soft">A short row of emoji that stands for payment addresses, links and keys.</p>
<form method="get" action="/" role="search">
<label for="asked">Emoji id</label>
<div class="id-field"><input id="asked" name="emoji_id" value="${asked}" autocomplete="off" spellcheck="false" maxlength="200" required>
<button>Look up</button></div>
</form>
${finding !== undefined && findingView(finding)}
<noscript><p class="soft">Searching, buying and transferring need JavaScript here. The same can be done with the API.</p></noscript>
</main>
<div id="notices" class="notices" role="status" aria-live="polite"></div>
<footer class="soft small"><a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/asyncapi.json">AsyncAPI</a> <span id="live-state" class="live-state"></span></footer>`,
  })
