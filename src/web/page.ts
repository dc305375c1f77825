import { Reply } from "../http/response/reply.ts"
import { assetUrl, scriptUrls, siteStyleUrls } from "./assets.ts"
import { type Content, type Html, html } from "./html.ts"

export interface PageOptions {
  readonly title: string
  readonly body: Content
  readonly status?: number
  /**
   * The bundled script of the page, with its style sheet. It replaces the script `forms.js`, which a page with a form
   * gets.
   */
  readonly script?: string
  /** Whether the response to a form of this page can redirect to another origin. */
  readonly formsLeadOut?: boolean
  readonly headers?: Readonly<Record<string, string | ReadonlyArray<string>>>
  /** Set if the page is the same for all users, so that it may be cached. */
  readonly cacheable?: true
  readonly wide?: true
}

const contentPolicy = (formsLeadOut: boolean): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: https:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    // Browsers apply `form-action` also to every redirect that follows a form. The directive is therefore omitted when a
    // form of the page leads to another origin.
    ...(formsLeadOut ? [] : ["form-action 'self'"]),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ")

/** Returns the headers of a page. They forbid inline scripts, frames and referrers. */
export const pageHeaders = (formsLeadOut = false): Record<string, string> => ({
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": contentPolicy(formsLeadOut),
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  // Another application may have opened this page in a window. The application then waits for a message from the window
  // after this page has redirected the window back to the application. With `same-origin`, the browser would cut the
  // connection between both windows.
  "Cross-Origin-Opener-Policy": formsLeadOut ? "unsafe-none" : "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
})

const scriptTag = (url: string): Html => html`<script type="module" src="${url}"></script>`

const formScripts = (body: Html): Content =>
  body.text.includes('<form method="post"') && scriptTag(assetUrl("forms.js"))

const styleTag = (url: string): Html => html`<link rel="stylesheet" href="${url}">`

const bundledScripts = (name: string): Content => {
  const { imports, script, style } = scriptUrls(name)
  return [
    style !== undefined && styleTag(style),
    ...imports.map((file) => html`<link rel="modulepreload" href="${file}">`),
    scriptTag(script),
  ]
}

const siteStyleTags = (): Content => {
  const { fonts, style } = siteStyleUrls()
  return [
    ...fonts.map((font) => html`<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>`),
    styleTag(style),
  ]
}

export const page = (options: PageOptions): Reply<never> => {
  const body = html`${options.body}`
  const scripts = options.script === undefined ? formScripts(body) : bundledScripts(options.script)
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${options.title}</title>
<link rel="icon" href="${assetUrl("icon.svg")}" type="image/svg+xml">
${siteStyleTags()}
${scripts}
</head>
<body${options.wide ? html` class="wide"` : ""}>
${body}
</body>
</html>`
  return Reply.raw(
    document.text,
    {
      ...pageHeaders(options.formsLeadOut),
      "Cache-Control": options.cacheable ? "public, max-age=60" : "no-store",
      ...options.headers,
    },
    options.status ?? 200,
  )
}
