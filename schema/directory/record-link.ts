import { parseTag, tags } from "./record-tag.ts"

interface WebLink {
  readonly name: string | undefined
  readonly url: string
}

const maxLinkNameUnits = 64

/**
 * Parses an absolute http(s) URL and normalizes it. The text is checked first, because `URL` silently removes line
 * breaks.
 */
export const parseWebUrl = (text: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not reach a header
  if (!/^https?:\/\//i.test(text) || /[\u0000-\u0020\u007f]/.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).href : undefined
}

/** Parses the data of a 0x4001 record: `url`, or `name|url` for a named link. */
export const parseWebLink = (data: string): WebLink | undefined => {
  const unnamed = parseWebUrl(data)
  if (unnamed !== undefined) return { name: undefined, url: unnamed }
  const bar = data.indexOf("|")
  if (bar < 1 || bar > maxLinkNameUnits) return undefined
  const url = parseWebUrl(data.slice(bar + 1))
  return url === undefined ? undefined : { name: data.slice(0, bar), url }
}

/**
 * Finds the target of /redirect: the newest web link with that name, otherwise the Redirect record. Clients of the
 * original API always send `link`, so an unknown name also uses the Redirect record. `records` are ordered oldest
 * first.
 */
export const findRedirect = (
  records: ReadonlyArray<{ readonly tag: string; readonly data: string }>,
  link: string | undefined,
): string | undefined => {
  let named: string | undefined
  let redirect: string | undefined
  for (const { data, tag } of records) {
    const number = parseTag(tag)
    if (number === tags.redirect) redirect = parseWebUrl(data) ?? redirect
    if (number !== tags.webUrl || link === undefined) continue
    const found = parseWebLink(data)
    if (found?.name === link) named = found.url
  }
  return named ?? redirect
}
