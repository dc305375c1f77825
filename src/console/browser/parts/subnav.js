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
 * Draws a paged list. `show` gets a function that reloads the current page. The caller gets such a function as the
 * result.
 * @param {Element} place @param {(page: number) => Promise<{data: ReadonlyArray<any>, paging: {total: number, limit: number}}>} load @param {(rows: ReadonlyArray<any>, again: () => Promise<void>) => Node} show
 */
export const drawPaged = async (place, load, show) => {
  let shown = 0
  const go = async (page) => {
    const request = {}
    latestRequest.set(place, request)
    const { data, paging } = await load(page)
    if (latestRequest.get(place) !== request) return
    const last = Math.max(0, Math.ceil(paging.total / paging.limit) - 1)
    if (page > last) return go(last)
    shown = page
    const step = (label, to) =>
      to < 0 || to > last
        ? h("button", { class: "plain", disabled: true }, label)
        : actionButton(label, () => go(to), { class: "plain" })
    fill(
      place,
      show(data, () => go(page)),
      last > 0 &&
        h(
          "div",
          { class: "row middle" },
          step("Newer", page - 1),
          h("span", { class: "soft small" }, `${page + 1} of ${last + 1}`),
          step("Older", page + 1),
        ),
    )
  }
  await go(0)
  return () => go(shown)
}
