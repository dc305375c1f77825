import type { Reply } from "../http/response/reply.ts"
import { type Html, html } from "./html.ts"
import { page } from "./page.ts"

interface Kind {
  readonly face: string
  readonly title: string
  /** What the reader can do. */
  readonly advice: string
}

const retry = "Nothing is lost. Wait a moment, then reload this page."
const mistyped = "The address may be mistyped, or the page was moved. Start again from the directory."

const kinds: Readonly<Record<number, Kind>> = {
  400: {
    face: "🤔",
    title: "Invalid request",
    advice: "Go back and try again, or start from the directory.",
  },
  403: {
    face: "🚧",
    title: "Access denied",
    advice: "Sign in with an account that may open this page, or start from the directory.",
  },
  404: { face: "🗺️", title: "Page not found", advice: mistyped },
  405: { face: "🗺️", title: "Method not allowed", advice: mistyped },
  410: {
    face: "⌛",
    title: "No longer available",
    advice: "It was used, replaced or has expired. Start again from the directory.",
  },
  429: { face: "🐢", title: "Too many requests", advice: retry },
  503: { face: "🛠️", title: "Service unavailable", advice: retry },
}

const kindOf = (status: number): Kind =>
  kinds[status] ??
  (status >= 500
    ? { face: "💥", title: "Internal server error", advice: retry }
    : { face: "🤔", title: "Request failed", advice: "Go back and try again, or start from the directory." })

/** The link that leads from a page without another way on to the console. */
export const homeLink = (kind: "" | "plain" = ""): Html =>
  html`<a class="button ${kind}" href="/">Go to the Emoji Id Directory</a>`

/** Returns the page that a browser shows for an error. It says what to do and leads to the console. */
export const errorPage = (facts: {
  readonly status: number
  readonly error: string
  readonly requestId?: string
}): Reply<never> => {
  const { advice, face, title } = kindOf(facts.status)
  return page({
    title,
    status: facts.status,
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">${face}</p>
<h1>${title}</h1>
<p>${facts.error}</p>
<p class="soft">${advice}</p>
<p>${homeLink()}</p>
${facts.status >= 500 && facts.requestId !== undefined && html`<p class="soft">If you report this problem, include the request id <code>${facts.requestId}</code>.</p>`}
</main>`,
  })
}
