/** When a route was deprecated, and what follows. Dates are written as 2026-11-01. */
export interface Deprecation {
  readonly since: string
  /** From this date on, the route may be removed. */
  readonly sunset?: string
  /** The address of a page that says what to use instead. */
  readonly link?: string
}

const dateOf = (text: string): Date => {
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(date.getTime()))
    throw new Error(`deprecated: ${text} is not a date such as 2026-11-01`)
  return date
}

/**
 * The header lines of a deprecated route, for every response: Deprecation (RFC 9745), Sunset (RFC 8594) and a Link to the
 * page about it. Each line begins with CR LF. They are made once, at startup.
 */
export const deprecationLines = ({ link, since, sunset }: Deprecation): string =>
  [
    `\r\nDeprecation: @${dateOf(since).getTime() / 1000}`,
    ...(sunset === undefined ? [] : [`\r\nSunset: ${dateOf(sunset).toUTCString()}`]),
    ...(link === undefined ? [] : [`\r\nLink: <${new URL(link).href}>; rel="deprecation"; type="text/html"`]),
  ].join("")

/** The same as a sentence, for the documentation. */
export const deprecationText = ({ link, since, sunset }: Deprecation): string =>
  [
    `Deprecated since ${since}.`,
    ...(sunset === undefined ? [] : [`It may be removed from ${sunset} on.`]),
    ...(link === undefined ? [] : [`See ${link}`]),
  ].join(" ")
