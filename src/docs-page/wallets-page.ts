import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../config/project-root.ts"
import { type Html, html } from "../web/html.ts"
import { markdown } from "./markdown.ts"

const guide = join(projectRoot, "docs/wallets.md")
/** Where the links of the guide lead on the served pages. */
const places: Readonly<Record<string, string>> = { "api.md": "/docs" }

let text: string | undefined
const readGuide = (): string => {
  text ??= readFileSync(guide, "utf8")
  return text
}

/** The titles of the guide's chapters, for the search. */
export const walletChapters = (): ReadonlyArray<string> =>
  [...readGuide().matchAll(/^#{2,3} (.*)$/gm)].map(([, title = ""]) => title)

/** Shows docs/wallets.md, so that the guide exists once. The tables in it are generated from the code. */
export const walletsPage = (): Html =>
  html`${markdown(readGuide(), (path) => (path.startsWith("/") || path.startsWith("http") ? path : places[path]))}
<p>The operations: <a href="/docs/lookup#resolveEmojiID">resolve</a>, <a href="/docs/lookup#resolveEmojiIDs">resolve many</a>,
<a href="/docs/lookup#lookupEmojiIDPayment">payment</a>, <a href="/docs/lookup#lookupEmojiID">look up</a>,
<a href="/docs/lookup#confirmRecord">confirm</a> and <a href="/docs/directory#editEmojiID">edit records</a>. <a href="/docs/records">Records</a>
lists all tags and the forms of their data.</p>`
