import { parseTag, tags } from "./record-tag.ts"

interface WebLink {
  readonly name: string | undefined
  readonly url: string
}

const maxLinkNameUnits = 64

/** An absolute http(s) URL as the browser will see it. The raw text is checked first: URL drops line breaks silently. */
export const parseWebUrl = (text: string): string | undefined => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not reach a header
  if (!/^https?:\/\//i.test(text) || /[\u0000-\u0020\u007f]/.test(text)) return undefined
  return URL.canParse(text) ? new URL(text).href : undefined
}

/** 0x4001 is `url`, or `name|url` for a link that can be asked for by name. */
export const parseWebLink = (data: string): WebLink | undefined => {
  const unnamed = parseWebUrl(data)
  if (unnamed !== undefined) return { name: undefined, url: unnamed }
  const bar = data.indexOf("|")
  if (bar < 1 || bar > maxLinkNameUnits) return undefined
  const url = parseWebUrl(data.slice(bar + 1))
  return url === undefined ? undefined : { name: data.slice(0, bar), url }
}

/**
 * Where /redirect leads: the newest web link of that name, else the id's Redirect. Clients of the first API cannot leave
 * `link` out, so an unknown name must still reach the Redirect. Records come oldest first.
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
