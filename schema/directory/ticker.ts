import tickerTags from "./data/ticker-tags.json" with { type: "json" }

/** Tickers that have a native tag. */
export const nativeTickers: ReadonlyMap<string, number> = new Map(
  Object.entries(tickerTags).map(([ticker, tag]) => [ticker, Number(tag)]),
)

/** The form of any ticker, native or not. */
const tickerPattern = /^[A-Z0-9][A-Z0-9_.$-]{0,15}$/

/** Returns the ticker in upper case; undefined if the text is not a ticker. */
export const parseTicker = (text: string): string | undefined => {
  const ticker = text.toUpperCase()
  return tickerPattern.test(ticker) ? ticker : undefined
}
