/** Checks URLs of others to which we redirect browsers: a partner's return URL, an OAuth client's redirect_uri. */

const maxReturnLinkLength = 2000
const maxRedirectUriLength = 500

/** Schemes with which a browser or its system runs a script, opens a local file or starts another program. */
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
  "content:",
  "chrome:",
  "chrome-extension:",
  "moz-extension:",
  "resource:",
  "ws:",
  "wss:",
  "ftp:",
  "mailto:",
  "tel:",
  "sms:",
])
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"])

const hierarchical = /^[a-z][a-z0-9+.-]*:\/\//i
/** A private-use scheme of an app: a reversed domain name and a path without a host (RFC 8252 section 7.1). */
const appScheme = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/(?!\/)/i

const parse = (text: string): URL | undefined => {
  // Rejects characters that a URL parser trims or rewrites, because the text is stored and compared unchanged.
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"`{}|^]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (refusedSchemes.has(url.protocol) || url.username !== "" || url.password !== "") return undefined
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  const isWhole = hierarchical.test(text) || appScheme.test(text)
  return isWhole && (!isWeb || url.hostname !== "") ? url : undefined
}

/** Whether this is an http or https URL, or one with an app's scheme (`wallet://done`, `com.example.wallet:/done`). */
export const isReturnLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && parse(text) !== undefined

/**
 * Like `isReturnLink`, but without a fragment and with http only for loopback hosts: the URL carries an authorization
 * code.
 */
export const isRedirectUri = (text: string): boolean => {
  const url = text.length <= maxRedirectUriLength && !text.includes("#") ? parse(text) : undefined
  return url !== undefined && (url.protocol !== "http:" || loopbackHosts.has(url.hostname))
}

export const isWebLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && /^https?:$/.test(parse(text)?.protocol ?? "")
