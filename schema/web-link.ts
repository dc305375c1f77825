/** Addresses we send browsers to on somebody else's word: a partner's return link, a client's redirect_uri. */

const maxReturnLinkLength = 2000
const maxRedirectUriLength = 500

/** Schemes a browser or its system acts on by itself: a script, a local file, another app's internals. */
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
/** A domain turned around, and a path without a host: as RFC 8252 section 7.1 wants it of apps. */
const ofAnApp = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:\/(?!\/)/i

const parse = (text: string): URL | undefined => {
  // What a URL parser trims or rewrites must not be there at all: the text is stored and compared as it is.
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"`{}|^]/.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (refusedSchemes.has(url.protocol) || url.username !== "" || url.password !== "") return undefined
  const isWeb = url.protocol === "https:" || url.protocol === "http:"
  const isWhole = hierarchical.test(text) || ofAnApp.test(text)
  return isWhole && (!isWeb || url.hostname !== "") ? url : undefined
}

/** http, https or an app's own scheme (`wallet://done`, `com.example.wallet:/done`). */
export const isReturnLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && parse(text) !== undefined

/** As a return link, but without a fragment, and http only to the own machine: a code travels on it. */
export const isRedirectUri = (text: string): boolean => {
  const url = text.length <= maxRedirectUriLength && !text.includes("#") ? parse(text) : undefined
  return url !== undefined && (url.protocol !== "http:" || loopbackHosts.has(url.hostname))
}

export const isWebLink = (text: string): boolean =>
  text.length <= maxReturnLinkLength && /^https?:$/.test(parse(text)?.protocol ?? "")
