import { parseTag, tags } from "./record-tag.ts"

interface WebLink {
  readonly name: string | undefined
  readonly url: string
}

const maxLinkNameUnits = 64

/**
 * Parses an absolute http(s) URL and returns it in normalized form. Undefined if the text is not such a URL. Control
 * characters are rejected before parsing, because `URL` silently removes line breaks.
 */
export const parseWebUrl = (text: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a header
  if (!/^https?:\/\//i.test(text) || /[\u0000-\u0020\u007f]/.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).href : undefined
}

/** Parses the data of a web link record (tag 0x4001): `url`, or `name|url` for a named link. */
export const parseWebLink = (data: string): WebLink | undefined => {
  const unnamed = parseWebUrl(data)
  if (unnamed !== undefined) return { name: undefined, url: unnamed }
  const bar = data.indexOf("|")
  if (bar < 1 || bar > maxLinkNameUnits) return undefined
  const url = parseWebUrl(data.slice(bar + 1))
  return url === undefined ? undefined : { name: data.slice(0, bar), url }
}

/**
 * Makes a check whether `link` means an unnamed web link: it is the URL, its host (with or without "www."), or the hash
 * of the record. `link` is parsed once, because an id can have hundreds of links.
 */
const makeMeans = (link: string) => {
  const withoutWww = (host: string) => host.toLowerCase().replace(/^www\./, "")
  const wanted = { url: parseWebUrl(link), hash: link.toLowerCase(), host: withoutWww(link) }
  return (url: string, hash: string | undefined): boolean =>
    url === wanted.url || hash === wanted.hash || withoutWww(new URL(url).host) === wanted.host
}

/**
 * Returns the target of /redirect. It is the first of these that exists:
 *
 * 1. the newest web link whose name is `link`
 * 2. the newest unnamed web link that `link` means (see `makeMeans`)
 * 3. the Redirect record, also for an unknown `link`, because clients of the original API always send `link`
 * 4. the newest unnamed web link
 *
 * Every target is a record of the id, so the parameter cannot send a visitor to another site. Undefined if there is no
 * target. `records` must be ordered oldest first.
 */
export const findRedirect = (
  records: ReadonlyArray<{ readonly tag: string; readonly data: string; readonly hash?: string }>,
  link: string | undefined,
): string | undefined => {
  let named: string | undefined
  let meant: string | undefined
  let redirect: string | undefined
  let unnamed: string | undefined
  const isMeant = link === undefined ? () => false : makeMeans(link)
  for (const { data, hash, tag } of records) {
    const number = parseTag(tag)
    if (number === tags.redirect) redirect = parseWebUrl(data) ?? redirect
    const found = number === tags.webUrl ? parseWebLink(data) : undefined
    if (found === undefined) continue
    if (found.name === undefined) {
      unnamed = found.url
      if (isMeant(found.url, hash)) meant = found.url
    } else if (found.name === link) named = found.url
  }
  return named ?? meant ?? redirect ?? unnamed
}
