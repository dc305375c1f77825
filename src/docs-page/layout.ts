import { assetUrl } from "../web/assets.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { operationsOf, type Reference, slugOf, titleOf, topicsOf } from "./reference.ts"

const stressed = (text: string): Content =>
  text.split("**").map((part, i) => (i % 2 === 1 ? html`<strong>${part}</strong>` : part))

/** Formats text in backticks as code, `[text](path)` as a link, and text between two pairs of asterisks as important. */
export const prose = (text: string): Content =>
  text.split("`").map((part, i) =>
    i % 2 === 1
      ? html`<code>${part}</code>`
      : part.split(/(\[[^\]]+\]\([^)]+\))/).map((piece) => {
          const [, name, path] = /^\[([^\]]+)\]\(([^)]+)\)$/.exec(piece) ?? []
          return path === undefined ? stressed(piece) : html`<a href="${path}">${name}</a>`
        }),
  )

export const codeBlock = (text: string, label?: string): Html =>
  html`<figure class="code">${label && html`<figcaption>${label}</figcaption>`}<pre tabindex="0"><code>${text}</code></pre></figure>`

const startPages = [
  ["/docs", "Quickstart"],
  ["/docs/for-wallets", "For wallets"],
  ["/docs/verification", "Verify answers"],
  ["/docs/client", "Client"],
  ["/docs/records", "Records"],
  ["/docs/errors", "Errors"],
  ["/docs/limits", "Rate limits"],
  ["/docs/live", "Live updates"],
  ["/docs/schemas", "Schemas"],
] as const

const link = (path: string, name: string, current: string, below: Content = false): Html =>
  html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${name}</a>${below}</li>`

/** The list of all pages. The operations of the current page are listed below its name. */
const sidebar = (reference: Reference, current: string): Html => {
  const operations = operationsOf(reference)
  const within = (group: string) =>
    `/docs/${slugOf(group)}` === current &&
    html`<ul class="inner">${operations
      .filter(({ operation }) => operation.tags[0] === group)
      .map(
        ({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
      )}</ul>`
  return html`<nav id="menu" class="sidebar" aria-label="API reference">
<p class="menu-close"><a href="#content">Close the menu</a></p>
<div id="search" data-index="/docs/search.json"></div>
<h2>Start</h2>
<ul>${startPages.map(([path, name]) => link(path, name, current))}</ul>
${topicsOf(reference).map(
  ([topic, groups]) => html`<h2>${topic}</h2>
<ul>${groups.map((group) => link(`/docs/${slugOf(group)}`, titleOf(group), current, within(group)))}</ul>`,
)}
</nav>`
}

export const docsPage = (reference: Reference, path: string, title: string, content: Content) =>
  page({
    title: `${title} · Emoji Id Directory API`,
    wide: true,
    cacheable: true,
    script: "docs",
    body: html`<a class="skip" href="#content">Skip to content</a>
<header class="docs-bar"><a class="home" href="/docs"><img src="${assetUrl("icon.svg")}" alt="" width="24" height="24"> API reference</a>
<a class="menu-button" href="#menu">Menu</a>
<div id="login" data-demo="${JSON.stringify(reference.demoLogins)}"></div></header>
<div class="docs">
${sidebar(reference, path)}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${content}
<footer class="soft small"><p>Version ${reference.openApi.info.version} · <a href="/openapi.json">OpenAPI</a> · <a href="/asyncapi.json">AsyncAPI</a> · <a href="/">Console</a></p></footer>
</main>
</div>`,
  })
