import { readFileSync } from "node:fs"
import { join } from "node:path"
import { projectRoot } from "../config/project-root.ts"
import { type Html, html } from "../web/html.ts"
import { codeBlock } from "./layout.ts"
import { headingId, markdown } from "./markdown.ts"

const texts = new Map<string, string>()
const read = (file: string): string => {
  const text = texts.get(file) ?? readFileSync(join(projectRoot, file), "utf8")
  texts.set(file, text)
  return text
}

interface Guide {
  readonly title: string
  /** A file of the project, so that the guide exists once. */
  readonly file: string
  /** By which words the search finds its chapters. */
  readonly words: string
  readonly before?: () => Html
  readonly after?: () => Html
}

/** The guides that are pages of the reference, by the names of the pages. */
export const guides: Readonly<Record<string, Guide>> = {
  "for-wallets": {
    title: "For wallets",
    file: "docs/wallets.md",
    words: "wallet address",
    after:
      () => html`<p>The operations: <a href="/docs/lookup#resolveEmojiID">resolve</a>, <a href="/docs/lookup#resolveEmojiIDs">resolve many</a>,
<a href="/docs/lookup#lookupEmojiIDPayment">payment</a>, <a href="/docs/lookup#lookupEmojiID">look up</a>,
<a href="/docs/lookup#confirmRecord">confirm</a> and <a href="/docs/directory#editEmojiID">edit records</a>. <a href="/docs/records">Records</a>
lists all tags and the forms of their data.</p>`,
  },
  verification: {
    title: "Verify answers",
    file: "docs/verification.md",
    words: "proof signature signed verify offline",
    after: () => html`<h2 id="verify-py">The verifier in Python</h2>
<p>The checks of this page, complete. It reads the key document, the answer and what was sent from its standard input.</p>
${codeBlock(read("docs/verify.py"), "verify.py")}`,
  },
  client: {
    title: "Client",
    file: "src/client/package/README.md",
    words: "client typescript javascript npm option",
    before: () =>
      html`<p>This page is the README of the package. The <a href="/docs#wallet">quickstart</a> has a complete program with it.</p>`,
  },
}

/** Where the links of the guides lead on the served pages. */
const places: Readonly<Record<string, string>> = {
  "api.md": "/docs",
  "verification.md": "/docs/verification",
  "verify.py": "#verify-py",
}

/** The address at which the examples of the package expect the service. */
const exampleUrl = "http://localhost:3001"

export const guidePage = ({ after, before, file }: Guide, baseUrl: string): Html => {
  const text = read(file).replaceAll(exampleUrl, baseUrl)
  const linkOf = (path: string): string | undefined => (/^(\/|http)/.test(path) ? path : places[path])
  return html`${before?.()}${markdown(text, linkOf)}${after?.()}`
}

/** The chapters of all guides, for the search. */
export const guideChapters = () =>
  Object.entries(guides).flatMap(([name, { file, title: kind, words }]) =>
    [...read(file).matchAll(/^#{2,3} (.*)$/gm)].map(([, title = ""]) => ({
      kind,
      title,
      href: `/docs/${name}#${headingId(title)}`,
      words,
    })),
  )
