import type { Reply } from "../http/response/reply.ts"
import type { Route } from "../http/route.ts"
import { type Html, html } from "../web/html.ts"
import type { Shapes } from "./document.ts"
import { errorsPage } from "./errors-page.ts"
import { guidePage, guides } from "./guides.ts"
import { docsPage } from "./layout.ts"
import { limitsPage } from "./limits-page.ts"
import { livePage } from "./live-page.ts"
import { operationView } from "./operation-view.ts"
import { quickstart } from "./quickstart.ts"
import { recordsPage } from "./records-page.ts"
import { operationsOf, type Reference, shapesOf, slugOf, titleOf } from "./reference.ts"
import { membersView } from "./shapes.ts"

/** What a reader of the page of a group must know before. */
const introductions: Readonly<Record<string, Html>> = {
  wallets: html`<p>These operations are about the wallets that a user has connected to the account. To pay to an emoji id from a
wallet application, read <a href="/docs/for-wallets">For wallets</a>.</p>`,
}

const groupPage = (reference: Reference, group: string): Html =>
  html`${introductions[group]}${operationsOf(reference)
    .filter(({ operation }) => operation.tags[0] === group)
    .map((listed) => operationView(reference, listed))}`

const liveShapes = ({ asyncApi }: Reference): Shapes => asyncApi.components.schemas as Shapes

const schemasPage = (reference: Reference): Html =>
  html`<p>The named types of requests and responses.</p>
${Object.entries({ ...shapesOf(reference), ...liveShapes(reference) }).map(([name, shape]) => html`<section class="operation schema" id="schema-${name}"><h2><code>${name}</code></h2>${membersView(shape)}</section>`)}`

const ownPages = new Set([...Object.keys(guides), "errors", "limits", "live", "records", "schemas"])

/** The names of all pages except the start page. */
export const pageNames = (table: ReadonlyArray<Route>): ReadonlySet<string> =>
  new Set([...ownPages, ...table.filter(({ internal }) => !internal).map(({ group }) => slugOf(group))])

/** Renders the page of this name. The start page has an empty name; other names are groups of operations. */
export const renderPage = (reference: Reference, name: string): Reply<never> => {
  const path = name === "" ? "/docs" : `/docs/${name}`
  const guide = guides[name]
  const show = (title: string, content: Html) => docsPage(reference, path, title, content)
  if (guide !== undefined) return show(guide.title, guidePage(guide, reference.baseUrl))
  switch (name) {
    case "":
      return show("Quickstart", quickstart(reference))
    case "records":
      return show("Records", recordsPage())
    case "errors":
      return show("Errors", errorsPage(reference))
    case "limits":
      return show("Rate limits", limitsPage(reference))
    case "live":
      return show("Live updates", livePage(reference))
    case "schemas":
      return show("Schemas", schemasPage(reference))
    default: {
      const group = name.replaceAll("-", " ")
      return show(titleOf(group), groupPage(reference, group))
    }
  }
}
