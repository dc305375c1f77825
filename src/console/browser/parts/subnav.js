import { actionButton } from "./actions.js"
import { fill, h } from "./dom.js"

/**
 * Draws a view with several pages and a navigation between the pages.
 * @param {Element} root @param {string} base @param {Record<string, {label: string, draw: (place: Element, lifetime: any, rest: ReadonlyArray<string>) => unknown}>} pages
 */
export const drawPages = async (root, base, pages, lifetime, [requested, ...rest]) => {
  const chosen = Object.hasOwn(pages, requested) ? requested : Object.keys(pages)[0]
  const place = h("div", {})
  root.append(
    h(
      "nav",
      { class: "tabs", "aria-label": "Sections" },
      Object.entries(pages).map(([name, { label }]) =>
        h("a", { href: `#/${base}/${name}`, "aria-current": name === chosen && "page" }, label),
      ),
    ),
    place,
  )
  await pages[chosen].draw(place, lifetime, rest)
  // On a phone not all tabs fit, so the current tab is scrolled into view after the view is drawn.
  requestAnimationFrame(() =>
    root.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }),
  )
  return pages[chosen].label
}

/** A table that becomes a list of cards on a phone. @param {ReadonlyArray<string>} headings @param {ReadonlyArray<ReadonlyArray<import("./dom.js").Child>>} rows */
export const table = (headings, rows) =>
  h(
    "table",
    { class: "stacked" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        headings.map((text) => (text === "" ? h("td") : h("th", { scope: "col" }, text))),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((cells) =>
        h(
          "tr",
          {},
          cells.map((cell, i) => h("td", { "data-label": headings[i] }, cell)),
        ),
      ),
    ),
  )

/** The latest request of each list, by the element of the list. Responses to older requests are ignored. */
const latestRequest = new WeakMap()

/**
 * Draws a paged list. `load` gets the query parameter that selects the page: empty for the first one, otherwise a cursor
 * of the page beside it. `show` gets a function that reloads the current page. The caller gets such a function as the
 * result.
 * @param {Element} place @param {(cursor: string) => Promise<{data: ReadonlyArray<any>, paging: {total: number, total_is_estimate?: boolean, limit: number, next?: string, previous?: string}}>} load @param {(rows: ReadonlyArray<any>, again: () => Promise<void>) => Node} show
 */
export const drawPaged = async (place, load, show) => {
  let reload = async () => {}
  const go = async (cursor, number) => {
    const request = {}
    latestRequest.set(place, request)
    const { data, paging } = await load(cursor)
    if (latestRequest.get(place) !== request) return
    const { next, previous } = paging
    // The rows of the page were deleted in the meantime.
    if (data.length === 0 && previous !== undefined) return go(`&before=${previous}`, number - 1)
    // Rows were added or deleted before this page. The first page is read from the start of the list.
    if (cursor !== "" && (number < 1 || previous === undefined)) return go("", 1)
    const pages = Math.max(number + (next === undefined ? 0 : 1), Math.ceil(paging.total / paging.limit))
    const count = `${number} of ${paging.total_is_estimate ? `about ${pages.toLocaleString("en")}` : pages}`
    reload = () => go(cursor, number)
    const step = (label, to) =>
      to === undefined
        ? h("button", { class: "plain", disabled: true }, label)
        : actionButton(label, to, { class: "plain" })
    fill(
      place,
      show(data, reload),
      (next !== undefined || previous !== undefined) &&
        h(
          "div",
          { class: "row middle" },
          step("Newer", previous && (() => go(`&before=${previous}`, number - 1))),
          h("span", { class: "soft small" }, count),
          step("Older", next && (() => go(`&after=${next}`, number + 1))),
        ),
    )
  }
  await go("", 1)
  return () => reload()
}
