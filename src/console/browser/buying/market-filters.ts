import { choice, h } from "../parts/dom.ts"
import type { Answer } from "../platform/request.ts"

export type Offer = Answer<"GET /emoji_id/random">["result"][number]

/** What the market shows. The URL contains it, so that it survives a reload and can be shared. */
export interface Filter {
  readonly sort: string
  /** A number of emoji, or the empty text. */
  readonly length: string
  /** Bounds in US cents such as `1000-5000` or `25000-`, or the empty text. */
  readonly price: string
}

const anyOffer: Filter = { sort: "", length: "", price: "" }

const cheapest = (a: Offer, b: Offer) => (a.price ?? 0) - (b.price ?? 0)

const orders: Readonly<Record<string, (a: Offer, b: Offer) => number>> = {
  cheap: cheapest,
  dear: (a, b) => cheapest(b, a),
  score: (a, b) => b.rhythm_score - a.rhythm_score,
  short: (a, b) => a.length - b.length || cheapest(a, b),
}

const sortTexts = [
  ["", "Mixed"],
  ["cheap", "Lowest price"],
  ["dear", "Highest price"],
  ["score", "Highest rhythm score"],
  ["short", "Shortest"],
] as const

const lengthTexts = [
  ["", "Any length"],
  ...["1", "2", "3", "4", "5", "6"].map((n) => [n, n === "1" ? "1 emoji" : `${n} emoji`] as const),
] as const

const priceTexts = [
  ["", "Any price"],
  ["0-1000", "Up to $10"],
  ["1000-5000", "$10 to $50"],
  ["5000-25000", "$50 to $250"],
  ["25000-100000", "$250 to $1,000"],
  ["100000-", "$1,000 and more"],
] as const

const known = (options: ReadonlyArray<readonly [string, string]>, value: string | null): string =>
  options.some(([option]) => option === value) ? (value ?? "") : ""

/** Reads the filter in the URL. Values that the page does not offer are ignored. */
export const filterOf = (hash: string): Filter => {
  const query = new URLSearchParams(hash.split("?")[1] ?? "")
  return {
    sort: known(sortTexts, query.get("sort")),
    length: known(lengthTexts, query.get("length")),
    price: known(priceTexts, query.get("price")),
  }
}

/** Returns the hash of the market page with this filter. */
export const withFilter = (hash: string, filter: Filter): string => {
  const set = Object.entries(filter).filter(([, value]) => value !== "")
  const [path = ""] = hash.split("?")
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`
}

const boundsOf = (price: string) => {
  const [least = "", most = ""] = price.split("-")
  return {
    ...(least !== "" && { min_price: Number(least) }),
    ...(most !== "" && { max_price: Number(most) }),
  }
}

/** The query parameters of `GET /emoji_id/random` for a filter. */
export const offerQuery = ({ length, price }: Filter) => ({
  ...(length !== "" && { min_length: Number(length), max_length: Number(length) }),
  ...boundsOf(price),
})

/** Returns the offers that fit a filter, in its order. */
export const arrange = (offers: ReadonlyArray<Offer>, { length, price, sort }: Filter) => {
  const { max_price: most = Number.POSITIVE_INFINITY, min_price: least = 0 } = boundsOf(price)
  const fitting = offers.filter(
    (offer) =>
      (length === "" || offer.length === Number(length)) &&
      (price === "" || (offer.price !== undefined && offer.price >= least && offer.price <= most)),
  )
  const order = orders[sort]
  return order === undefined ? fitting : fitting.toSorted(order)
}

export const isNarrowed = ({ length, price }: Filter): boolean => length !== "" || price !== ""

/** The fields that change the filter. `set` resets them. */
export const filterBar = (first: Filter, onChange: (filter: Filter) => void) => {
  const form: HTMLFormElement = h(
    "form",
    {
      class: "filters",
      "aria-label": "Filter and sort",
      onsubmit: (event) => event.preventDefault(),
      onchange: () => {
        const data = new FormData(form)
        const value = (name: string) => String(data.get(name) ?? "")
        onChange({ sort: value("sort"), length: value("length"), price: value("price") })
      },
    },
    choice("Length", "length", lengthTexts),
    choice("Price", "price", priceTexts),
    choice("Sort by", "sort", sortTexts),
  )
  const set = (filter: Filter) => {
    for (const select of form.querySelectorAll("select"))
      select.value = new Map(Object.entries(filter)).get(select.name) ?? ""
  }
  set(first)
  return {
    form,
    clear: () => {
      set(anyOffer)
      onChange(anyOffer)
    },
  }
}
