import { type Child, fill, h, type Properties } from "../../../web/browser/elements.ts"

/** The elements that several views of the console use. */

export type { Child, Properties }
export { fill, h }

/** Returns the element of the page with this id. */
export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`The page has no element "${id}"`)
  return found
}

/** Returns the first input of a form or dialog. */
export const firstInput = (within: Element): HTMLInputElement => {
  const found = within.querySelector("input")
  if (found === null) throw new Error("There is no input")
  return found
}

interface KeyedList<T> {
  readonly key: (item: T) => string
  readonly version: (item: T) => string
  readonly render: (item: T) => HTMLElement
}

const elementsIn = (container: Element): ReadonlyArray<HTMLElement> =>
  [...container.children].filter((child) => child instanceof HTMLElement)

/** Updates a list. The elements of unchanged entries are kept, so that typed text and focus are not lost. */
export const keyed = <T>(
  container: Element,
  items: ReadonlyArray<T>,
  { key, render, version }: KeyedList<T>,
): void => {
  const present = new Map(elementsIn(container).map((child) => [child.dataset["key"], child]))
  const wanted = items.map((item) => {
    const old = present.get(key(item))
    if (old?.dataset["version"] === version(item)) return old
    const fresh = render(item)
    fresh.dataset["key"] = key(item)
    fresh.dataset["version"] = version(item)
    if (old !== undefined) fresh.classList.add("changed")
    return fresh
  })
  for (const child of elementsIn(container)) if (!wanted.includes(child)) child.remove()
  // A moved element loses the focus, so only elements at a wrong position are moved.
  for (const [i, node] of wanted.entries())
    if (container.children[i] !== node) container.insertBefore(node, container.children[i] ?? null)
}

let fields = 0

export const field = (label: string, properties: Properties<HTMLInputElement>, hint?: Child) => {
  const id = `field-${++fields}`
  const input = h("input", { id, autocomplete: "off", ...properties })
  if (hint) input.setAttribute("aria-describedby", `${id}-hint`)
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    input,
    hint && h("p", { id: `${id}-hint`, class: "soft small hint" }, hint),
  )
}

export const choice = (
  label: string,
  name: string,
  options: ReadonlyArray<readonly [value: string, text: string]>,
  properties: Properties<HTMLSelectElement> = {},
) => {
  const id = `field-${++fields}`
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h(
      "select",
      { id, name, ...properties },
      options.map(([value, text]) => h("option", { value }, text)),
    ),
  )
}

export const tick = (label: string, properties: Properties<HTMLInputElement>) =>
  h("label", { class: "tick" }, h("input", { type: "checkbox", ...properties }), " ", label)

const segmenter = new Intl.Segmenter()

/** An element that shows an id. The style sheet uses the class with the number of emoji to fit the id on one line. */
export const emojiText = (id: string, size = "") =>
  h("span", { class: `emoji ${size} n${[...segmenter.segment(id)].length}` }, id)

/** A list of ids. Line breaks occur only between ids. */
export const emojiLine = (ids: ReadonlyArray<string>) =>
  h(
    "span",
    { class: "emoji-line" },
    ids.flatMap((id) => [h("span", {}, id), " "]),
  )

/** A note below a list that does not contain all entries. Returns false if the list is complete. */
export const cut = (shown: ReadonlyArray<unknown>, total: number) =>
  shown.length < total && h("p", { class: "soft small" }, `Showing the newest ${shown.length} of ${total}.`)

export const badge = (text: string, kind = "") => h("span", { class: `badge ${kind}` }, text)

export const empty = (sign: string, text: string, ...more: ReadonlyArray<Child>) =>
  h(
    "div",
    { class: "empty" },
    h("p", { class: "emoji", "aria-hidden": "true" }, sign),
    h("p", {}, text),
    more,
  )
