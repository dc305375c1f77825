import { fill, h } from "../parts/dom.ts"
import { type IconName, icon } from "../parts/icon.ts"
import type { Lifetime } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"

/** A group of pages in the navigation of the account. */
export interface Group {
  readonly label: string
  readonly pages: Readonly<Record<string, Section & { readonly hint: string; readonly sign: IconName }>>
}

const phone = "(max-width: 640px)"

const groupList = (groups: ReadonlyArray<Group>, shown: string | undefined) =>
  groups.map(({ label, pages }) => [
    h("h2", {}, label),
    h(
      "ul",
      {},
      Object.entries(pages).map(([name, page]) =>
        h(
          "li",
          {},
          h(
            "a",
            { href: `#/account/${name}`, "aria-current": name === shown && "page" },
            icon(page.sign),
            h("span", {}, page.label),
            h("span", { class: "soft small page-hint" }, page.hint),
          ),
        ),
      ),
    ),
  ])

/**
 * Draws a page of the account beside the navigation. On a phone, `#/account` shows only the navigation, and a page has a
 * link back to it. Returns the title of the page.
 */
export const drawAccountPages = async (
  root: HTMLElement,
  groups: ReadonlyArray<Group>,
  lifetime: Lifetime,
  [requested = "", ...rest]: ReadonlyArray<string>,
): Promise<string> => {
  const pages = Object.fromEntries(groups.flatMap(({ pages }) => Object.entries(pages)))
  const isKnown = Object.hasOwn(pages, requested)
  const name = isKnown ? requested : matchMedia(phone).matches ? undefined : Object.keys(pages)[0]
  const nav = h("nav", { class: "side-nav", "aria-label": "Account pages" }, groupList(groups, name))
  const page = name === undefined ? undefined : pages[name]
  if (page === undefined) {
    fill(root, h("h1", {}, "Account"), nav)
    return "Account"
  }
  nav.classList.add("beside")
  const place = h("div", {})
  fill(
    root,
    h(
      "div",
      { class: "account-layout" },
      nav,
      h(
        "div",
        { class: "account-page" },
        h("p", { class: "to-account" }, h("a", { href: "#/account" }, "← Account")),
        h("h1", {}, page.label),
        place,
      ),
    ),
  )
  await page.draw(place, lifetime, rest)
  return page.label
}
