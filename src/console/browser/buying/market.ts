import type { View } from "../main.ts"
import { actionButton } from "../parts/actions.ts"
import { empty, fill, h } from "../parts/dom.ts"
import { idForm } from "../parts/picker.ts"
import { failure } from "../parts/retry.ts"
import { call } from "../platform/api.ts"
import { subscribe } from "../platform/live.ts"
import { cart } from "../platform/store.ts"
import {
  arrange,
  filterBar,
  filterOf,
  isNarrowed,
  type Offer,
  offerQuery,
  withFilter,
} from "./market-filters.ts"
import { resultCard, tile } from "./offers.ts"

const shownOffers = 24

interface Found {
  readonly result?: Offer
  readonly others: ReadonlyArray<Offer>
}

const scoreHelp = () =>
  h(
    "details",
    { class: "score-help" },
    h("summary", {}, "What is the rhythm score?"),
    h(
      "p",
      {},
      "A number from 1 to 100 that says how short and how memorable an id is. Fewer emoji score higher. So do patterns, such as the same emoji repeated or at both ends, and popular emoji.",
    ),
    h("p", {}, "The price depends only on the score: a higher score costs more."),
  )

export const draw: View["draw"] = async (root, lifetime, [requested = ""]) => {
  const results = h("div", { "aria-live": "polite" })
  const search = idForm({
    label: "Search for an emoji id",
    button: "Search",
    value: requested,
    view: "market",
  })
  let filter = filterOf(location.hash)
  let found: Found | undefined
  let latest = 0

  const nothing = () =>
    isNarrowed(filter)
      ? empty(
          "🔭",
          "No ids match these filters.",
          h("div", { class: "row middle" }, actionButton("Clear filters", bar.clear, { class: "plain" })),
        )
      : empty("🔭", "No suggestions.")
  const drawFound = () => {
    if (found === undefined) return
    const shown = arrange(found.others, filter)
    fill(
      results,
      found.result && resultCard(found.result),
      h("h2", {}, found.result ? "Similar ids" : "Suggestions"),
      shown.length === 0 ? nothing() : h("ul", { class: "tiles" }, shown.map(tile)),
      requested === "" &&
        shown.length > 0 &&
        h(
          "div",
          { class: "row middle" },
          actionButton("Show other ids", load, { sign: "refresh-cw", class: "plain" }),
        ),
    )
  }
  const read = async (): Promise<Found> => {
    if (requested === "") {
      const query = { limit: shownOffers, ...offerQuery(filter) }
      return { others: (await call("GET /emoji_id/random", { query })).result }
    }
    const { alternates, result } = await call("GET /emoji_id/search", { query: { emoji_id: requested } })
    return { result, others: alternates }
  }
  const load = async () => {
    const request = ++latest
    results.setAttribute("aria-busy", "true")
    try {
      const next = await read()
      if (request !== latest) return
      found = next
      drawFound()
    } catch (error) {
      if (request !== latest) return
      found = undefined
      fill(results, failure(error, load))
    } finally {
      if (request === latest) results.removeAttribute("aria-busy")
    }
  }
  const bar = filterBar(filter, (next) => {
    const mustLoad = requested === "" && (next.length !== filter.length || next.price !== filter.price)
    filter = next
    // No new history entry, so that the Back button leaves the market.
    history.replaceState(null, "", withFilter(location.hash, filter))
    if (mustLoad || found === undefined) void load()
    else drawFound()
  })
  root.append(h("h1", {}, "Find an id to buy"), search, bar.form, scoreHelp(), results)
  await load()
  lifetime.onEnd(cart.watch(drawFound))
  const concerns = (data: unknown): boolean => {
    const { emoji_id: id } = data as { readonly emoji_id: string }
    return found?.result?.emoji_id === id || found?.others.some((item) => item.emoji_id === id) === true
  }
  lifetime.onEnd(
    subscribe("market", {
      onEvent: (_, data) => {
        if (requested !== "" && concerns(data)) void load()
      },
    }),
  )
  return requested === "" ? "Market" : `Market: ${requested}`
}
