import tickerTags from "./data/ticker-tags.json" with { type: "json" }

/** Maps each ticker that has a native tag to this tag. */
export const nativeTickers: ReadonlyMap<string, number> = new Map(
  Object.entries(tickerTags).map(([ticker, tag]) => [ticker, Number(tag)]),
)

/** The format of a ticker, with or without a native tag. */
const tickerPattern = /^[A-Z0-9][A-Z0-9_.$-]{0,15}$/

/** Returns the ticker in upper case; undefined if the text is not a ticker. */
export const parseTicker = (text: string): string | undefined => {
  const ticker = text.toUpperCase()
  return tickerPattern.test(ticker) ? ticker : undefined
}
