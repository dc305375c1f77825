import type { Config } from "../config/config.ts"
import type { Endpoint, RawResponse } from "../http/endpoint.ts"
import { html } from "./html.ts"

const testPayments = html`<aside class="site-notice">Test payments: no real money is charged.</aside>`

/** What every page of this service has to say, whatever it is about. */
export const siteNotice = ({ payments }: Pick<Config, "payments">): string | undefined =>
  payments === "sandbox" ? testPayments.text : undefined

/** `page()` writes the only body tag, and values cannot contain another one: they are escaped. */
const bodyTag = /<\/head>\n<body[^>]*>\n/

/** Puts the notice at the top of a page; other answers stay as they are. */
export const withNotice = (response: RawResponse, notice: string): RawResponse => {
  const { body = "", headers } = response
  const type = headers?.["Content-Type"] ?? ""
  if (body.length === 0 || !String(type).startsWith("text/html")) return response
  const document = typeof body === "string" ? body : new TextDecoder().decode(body)
  return { ...response, body: document.replace(bodyTag, (tag) => `${tag}${notice}\n`) }
}

/** The endpoint with the notice on every page it answers, errors included. */
export const endpointWithNotice = (endpoint: Endpoint, notice: string): Endpoint => ({
  ...endpoint,
  handle: (request, respond) => endpoint.handle(request, (response) => respond(withNotice(response, notice))),
})
