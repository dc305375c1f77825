import type { Paging } from "../../../client/api-types.ts"
import { actionButton } from "./actions.ts"
import { type Child, fill, h } from "./dom.ts"
import type { Lifetime } from "./signal.ts"

/** A page of a view. `rest` is the part of the URL after the name of the page. */
export interface Section {
  readonly label: string
  readonly draw: (place: HTMLElement, lifetime: Lifetime, rest: ReadonlyArray<string>) => unknown
}

/** Draws a view with several pages and a navigation between the pages. Returns the label of the shown page. */
export const drawPages = async (
  root: Element,
  base: string,
  pages: Readonly<Record<string, Section>>,
  lifetime: Lifetime,
  [requested = "", ...rest]: ReadonlyArray<string>,
): Promise<string> => {
  const [first] = Object.keys(pages)
  const chosen = Object.hasOwn(pages, requested) ? requested : first!
  const { draw, label } = pages[chosen]!
  const place = h("div", {})
  root.append(
    h(
      "nav",
      { class: "tabs", "aria-label": "Sections" },
      Object.entries(pages).map(([name, section]) =>
        h("a", { href: `#/${base}/${name}`, "aria-current": name === chosen && "page" }, section.label),
      ),
    ),
    place,
  )
  await draw(place, lifetime, rest)
  // On a phone not all tabs fit, so the current tab is scrolled into view after the view is drawn.
  requestAnimationFrame(() =>
    root.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }),
  )
  return label
}

/** A table that becomes a list of cards on a phone. */
export const table = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Child>>) =>
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
const latestRequest = new WeakMap<Element, object>()

/** The query parameters that select a page: none for the first one, otherwise a cursor of the page beside it. */
export interface Cursor {
  readonly after?: string
  readonly before?: string
}

interface PageOf<T> {
  readonly data: ReadonlyArray<T>
  readonly paging: Pick<Paging, "limit" | "next" | "previous" | "total" | "total_is_estimate">
}

/**
 * Draws a paged list. `show` gets a function that reloads the current page. The caller gets such a function as the
 * result.
 */
export const drawPaged = async <T>(
  place: Element,
  load: (cursor: Cursor) => Promise<PageOf<T>>,
  show: (rows: ReadonlyArray<T>, again: () => Promise<void>) => Child,
): Promise<() => Promise<void>> => {
  let reload = async (): Promise<void> => {}
  const go = async (cursor: Cursor, number: number): Promise<void> => {
    const request = {}
    latestRequest.set(place, request)
    const { data, paging } = await load(cursor)
    if (latestRequest.get(place) !== request) return
    const { next, previous } = paging
    // The rows of the page were deleted in the meantime.
    if (data.length === 0 && previous !== undefined) return go({ before: previous }, number - 1)
    const isFirst = cursor.after === undefined && cursor.before === undefined
    // Rows were added or deleted before this page. The first page is read from the start of the list.
    if (!isFirst && (number < 1 || previous === undefined)) return go({}, 1)
    const pages = Math.max(number + (next === undefined ? 0 : 1), Math.ceil(paging.total / paging.limit))
    const count = `${number} of ${paging.total_is_estimate ? `about ${pages.toLocaleString("en")}` : pages}`
    reload = () => go(cursor, number)
    const step = (label: string, to: (() => Promise<void>) | undefined) =>
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
          step("Newer", previous === undefined ? undefined : () => go({ before: previous }, number - 1)),
          h("span", { class: "soft small" }, count),
          step("Older", next === undefined ? undefined : () => go({ after: next }, number + 1)),
        ),
    )
  }
  await go({}, 1)
  return () => reload()
}
