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
 * Returns the target of /redirect: the newest web link whose name is `link`. If there is none, the Redirect record is
 * used, also for an unknown name, because clients of the original API always send `link`. Undefined if there is no
 * target. `records` must be ordered oldest first.
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
