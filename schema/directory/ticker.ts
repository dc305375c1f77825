import tickerTags from "./data/ticker-tags.json" with { type: "json" }

/** Tickers with a tag of their own. */
export const nativeTickers: ReadonlyMap<string, number> = new Map(
  Object.entries(tickerTags).map(([ticker, tag]) => [ticker, Number(tag)]),
)

/** Any ticker, native or not: how it may be written. */
const tickerPattern = /^[A-Z0-9][A-Z0-9_.$-]{0,15}$/

/** The ticker in its one spelling, or undefined for what cannot be a ticker. */
export const parseTicker = (text: string): string | undefined => {
  const ticker = text.toUpperCase()
  return tickerPattern.test(ticker) ? ticker : undefined
}
