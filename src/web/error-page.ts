import type { Reply } from "../http/response/reply.ts"
import { html } from "./html.ts"
import { page } from "./page.ts"

const words: Readonly<Record<number, readonly [face: string, title: string]>> = {
  400: ["🤔", "That did not make sense"],
  403: ["🚧", "Not from here"],
  404: ["🗺️", "There is nothing here"],
  405: ["🗺️", "There is nothing here"],
  429: ["🐢", "A little slower, please"],
  503: ["🛠️", "Back in a moment"],
}

/** What a person sees when a page cannot be shown. */
export const errorPage = (facts: {
  readonly status: number
  readonly error: string
  readonly requestId?: string
}): Reply<never> => {
  const [face, title] =
    words[facts.status] ?? (facts.status >= 500 ? ["💥", "This is on us"] : ["🤔", "That did not work"])
  return page({
    title,
    status: facts.status,
    body: html`<main class="center">
<p class="emoji huge" aria-hidden="true">${face}</p>
<h1>${title}</h1>
<p>${facts.error}</p>
${facts.status >= 500 && facts.requestId !== undefined && html`<p class="soft">If you tell us about it, mention <code>${facts.requestId}</code>.</p>`}
</main>`,
  })
}
