import type { Config } from "../config/read-config.ts"
import type { Endpoint, RawResponse } from "../http/endpoint.ts"
import { html } from "./html.ts"

/** An element with this attribute sends a form that needs a reCAPTCHA response. Only our pages write it. */
const mark = / data-human(?=[ >])/

interface Widget {
  readonly tags: string
  readonly url: string
}

/** Returns what pages with a sign-in form need to load reCAPTCHA. Undefined if it is not configured. */
export const recaptchaWidget = ({
  recaptchaSiteKey: key,
  recaptchaUrl: url,
}: Pick<Config, "recaptchaSiteKey" | "recaptchaUrl">): Widget | undefined =>
  key === undefined
    ? undefined
    : {
        url: `${url}/`,
        tags: html`<meta name="recaptcha-site-key" content="${key}">
<script src="${url}/api.js?render=${encodeURIComponent(key)}" async></script>
`.text,
      }

/** The script loads further scripts from this address, and shows a frame from its own. */
const scripts = "https://www.gstatic.com/recaptcha/"

const withSources = (policy: string, url: string): string =>
  `${policy
    .replace("script-src 'self'", `script-src 'self' ${url} ${scripts}`)
    .replace("connect-src 'self'", `connect-src 'self' ${url}`)}; frame-src ${url}`

/** Adds reCAPTCHA to a page with a sign-in form. Other responses are returned unchanged. */
const withWidget = (response: RawResponse, { tags, url }: Widget): RawResponse => {
  const { body = "", headers = {} } = response
  const policy = headers["Content-Security-Policy"]
  if (typeof policy !== "string" || body.length === 0) return response
  const document = typeof body === "string" ? body : new TextDecoder().decode(body)
  if (!mark.test(document)) return response
  return {
    ...response,
    headers: { ...headers, "Content-Security-Policy": withSources(policy, url) },
    body: document.replace("</head>\n", () => `${tags}</head>\n`),
  }
}

/** Returns the endpoint with reCAPTCHA on its pages that have a sign-in form. */
export const endpointWithRecaptcha = (endpoint: Endpoint, widget: Widget): Endpoint => ({
  ...endpoint,
  handle: (request, respond) => endpoint.handle(request, (response) => respond(withWidget(response, widget))),
})
