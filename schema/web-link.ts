/**
 * This file checks URLs that other parties choose and to which the service sends browsers. Examples are the return link
 * of a partner and the redirect_uri of an OAuth client.
 */

const maxReturnLinkLength = 2000
const maxRedirectUriLength = 500

/**
 * URL schemes that are rejected. With most of them a browser or its system runs a script, opens a local file or starts
 * another program.
 */
const refusedSchemes = new Set([
  "javascript:",
  "data:",
  "vbscript:",
  "file:",
  "filesystem:",
  "blob:",
  "about:",
  "view-source:",
  "intent:",
  "android-app:",
  "content:",
  "jar:",
  "chrome:",
  "chrome-extension:",
  "moz-extension:",
  "resource:",
  "ws:",
  "wss:",
  "ftp:",
  "ftps:",
  "sftp:",
  "smb:",
  "ldap:",
  "gopher:",
  "telnet:",
  "ssh:",
  "mailto:",
  "tel:",
  "sms:",
])
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"])

const hierarchical = /^[a-z][a-z0-9+.-]*:\/\//i
/**
 * A URL with the private-use scheme of an app: a reversed domain name, and a path without a host (RFC 8252 section
 * 7.1).
 */
const appScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/(?!\/)/i

const parse = (text: string): URL | undefined => {
  // Rejects characters that a URL parser removes or changes, because the text is stored and compared without changes.
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"`{}|^]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (refusedSchemes.has(url.protocol) || url.username !== "" || url.password !== "") return undefined
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  const isWhole = hierarchical.test(text) || appScheme.test(text)
  return isWhole && (!isWeb || url.hostname !== "") ? url : undefined
}

/** Shops write this text in `success_url`. The payment provider replaces it with the id of the checkout session. */
const sessionPlaceholder = "{CHECKOUT_SESSION_ID}"

export const fillSessionId = (url: string, sessionId: string): string =>
  url.replaceAll(sessionPlaceholder, sessionId)

/**
 * Whether the text is a URL to which a buyer may return after a payment: an http or https URL, or a URL with the scheme
 * of an app (`wallet://done`, `com.example.wallet:/done`).
 */
export const isReturnLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && parse(fillSessionId(text, "session")) !== undefined

/**
 * Whether the text is a valid return link of a partner. The link gets refresh tokens, so http is allowed only for
 * loopback hosts and not in production.
 */
export const isPartnerLink = (text: string, { production }: { readonly production: boolean }): boolean => {
  const url = text.length <= maxReturnLinkLength ? parse(text) : undefined
  return url !== undefined && (url.protocol !== "http:" || (!production && loopbackHosts.has(url.hostname)))
}

/**
 * Whether the text is a valid redirect_uri. The rules are those of `isReturnLink`, with three differences: the maximum
 * length is shorter, a fragment is not allowed, and http is allowed only for loopback hosts, because the URL carries an
 * authorization code.
 */
export const isRedirectUri = (text: string): boolean => {
  const url = text.length <= maxRedirectUriLength && !text.includes("#") ? parse(text) : undefined
  return url !== undefined && (url.protocol !== "http:" || loopbackHosts.has(url.hostname))
}

export const isWebLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && /^https?:$/.test(parse(text)?.protocol ?? "")
