import type { Config } from "../config/config.ts"
import type { Endpoint, RawResponse } from "../http/endpoint.ts"
import { html } from "./html.ts"

const testPayments = html`<aside class="site-notice">Test payments: no real money is charged.</aside>`

/** The notice that every page shows, if there is one. */
export const siteNotice = ({ payments }: Pick<Config, "payments">): string | undefined =>
  payments === "sandbox" ? testPayments.text : undefined

/** `page()` writes the only body tag. Values cannot contain another one, because they are escaped. */
const bodyTag = /<\/head>\n<body[^>]*>\n/

/** Inserts the notice at the top of a page. Other responses are not changed. */
export const withNotice = (response: RawResponse, notice: string): RawResponse => {
  const { body = "", headers } = response
  const type = headers?.["Content-Type"] ?? ""
  if (body.length === 0 || !String(type).startsWith("text/html")) return response
  const document = typeof body === "string" ? body : new TextDecoder().decode(body)
  return { ...response, body: document.replace(bodyTag, (tag) => `${tag}${notice}\n`) }
}

/** The endpoint with the notice on all its pages, including errors. */
export const endpointWithNotice = (endpoint: Endpoint, notice: string): Endpoint => ({
  ...endpoint,
  handle: (request, respond) => endpoint.handle(request, (response) => respond(withNotice(response, notice))),
})
