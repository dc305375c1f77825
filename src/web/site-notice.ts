import type { Config } from "../config/read-config.ts"
import type { Endpoint, RawResponse } from "../http/endpoint.ts"
import { html } from "./html.ts"

const testPayments = html`<aside class="site-notice">Test payments: no real money is charged.</aside>`

/**
 * Returns the notice that every page shows: with PAYMENTS=sandbox the notice about test payments, otherwise
 * undefined.
 */
export const siteNotice = ({ payments }: Pick<Config, "payments">): string | undefined =>
  payments === "sandbox" ? testPayments.text : undefined

/**
 * Matches the body tag of a page. Only `page()` writes it; inserted values cannot contain another one, because they
 * are escaped.
 */
const bodyTag = /<\/head>\n<body[^>]*>\n/

/** Inserts the notice at the top of a page. Responses that are not HTML are returned unchanged. */
export const withNotice = (response: RawResponse, notice: string): RawResponse => {
  const { body = "", headers } = response
  const type = headers?.["Content-Type"] ?? ""
  if (body.length === 0 || !String(type).startsWith("text/html")) return response
  const document = typeof body === "string" ? body : new TextDecoder().decode(body)
  return { ...response, body: document.replace(bodyTag, (tag) => `${tag}${notice}\n`) }
}

/** Returns the endpoint with the notice on all its pages, including error pages. */
export const endpointWithNotice = (endpoint: Endpoint, notice: string): Endpoint => ({
  ...endpoint,
  handle: (request, respond) => endpoint.handle(request, (response) => respond(withNotice(response, notice))),
})
