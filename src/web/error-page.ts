import type { Reply } from "../http/response/reply.ts"
import { html } from "./html.ts"
import { page } from "./page.ts"

const titles: Readonly<Record<number, readonly [face: string, title: string]>> = {
  400: ["🤔", "Invalid request"],
  403: ["🚧", "Access denied"],
  404: ["🗺️", "Page not found"],
  405: ["🗺️", "Method not allowed"],
  429: ["🐢", "Too many requests"],
  503: ["🛠️", "Service unavailable"],
}

/** Returns the page that a browser shows for an error. */
export const errorPage = (facts: {
  readonly status: number
  readonly error: string
  readonly requestId?: string
}): Reply<never> => {
  const [face, title] =
    titles[facts.status] ?? (facts.status >= 500 ? ["💥", "Internal server error"] : ["🤔", "Request failed"])
  return page({
    title,
    status: facts.status,
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">${face}</p>
<h1>${title}</h1>
<p>${facts.error}</p>
${facts.status >= 500 && facts.requestId !== undefined && html`<p class="soft">If you report this problem, include the request id <code>${facts.requestId}</code>.</p>`}
</main>`,
  })
}
