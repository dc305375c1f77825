/** Functions that create DOM elements. Content is always inserted as text, never as HTML. */

/** @typedef {Node | string | number | false | null | undefined | ReadonlyArray<Child>} Child */

/** @param {Child} child @returns {Array<Node | string>} */
const flatten = (child) => {
  if (Array.isArray(child)) return child.flatMap(flatten)
  if (child === false || child === null || child === undefined) return []
  return [child instanceof Node ? child : String(child)]
}

const domProperties = new Set(["value", "checked", "disabled", "open"])

/**
 * Creates an element. A property with a function, such as `onclick`, becomes a listener. Properties with the value
 * false, null or undefined are left out.
 * @param {string} tag @param {Record<string, unknown>} [properties] @param {...Child} children
 */
export const h = (tag, properties = {}, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (typeof value === "function") element.addEventListener(name.slice(2), value)
    else if (domProperties.has(name)) element[name] = value
    else element.setAttribute(name, value === true ? "" : String(value))
  }
  element.append(...flatten(children))
  return element
}

/** @param {Element} element @param {...Child} children */
export const fill = (element, ...children) => element.replaceChildren(...flatten(children))

/**
 * Updates a list. The elements of unchanged entries are kept, so that typed text and focus are not lost.
 * @template T
 * @param {Element} container @param {ReadonlyArray<T>} items
 * @param {{key: (item: T) => string, version: (item: T) => string, render: (item: T) => HTMLElement}} how
 */
export const keyed = (container, items, { key, render, version }) => {
  const present = new Map([...container.children].map((child) => [child.dataset.key, child]))
  const wanted = items.map((item) => {
    const old = present.get(key(item))
    if (old?.dataset.version === version(item)) return old
    const fresh = render(item)
    fresh.dataset.key = key(item)
    fresh.dataset.version = version(item)
    if (old !== undefined) fresh.classList.add("changed")
    return fresh
  })
  for (const child of [...container.children]) if (!wanted.includes(child)) child.remove()
  // A moved element loses the focus, so only elements at a wrong position are moved.
  for (const [i, node] of wanted.entries())
    if (container.children[i] !== node) container.insertBefore(node, container.children[i] ?? null)
}

let fields = 0

/** @param {string} label @param {Record<string, unknown>} properties @param {Child} [hint] */
export const field = (label, properties, hint) => {
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

/** @param {string} label @param {string} name @param {ReadonlyArray<readonly [value: string, text: string]>} options @param {Record<string, unknown>} [properties] */
export const choice = (label, name, options, properties = {}) => {
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

/** @param {string} label @param {Record<string, unknown>} properties */
export const tick = (label, properties) =>
  h("label", { class: "tick" }, h("input", { type: "checkbox", ...properties }), " ", label)

const segmenter = new Intl.Segmenter()

/**
 * An element that shows an id. The style sheet uses the class with the number of emoji to fit the id on one line.
 * @param {string} id @param {string} [size]
 */
export const emojiText = (id, size = "") =>
  h("span", { class: `emoji ${size} n${[...segmenter.segment(id)].length}` }, id)

/** A list of ids. Line breaks occur only between ids. @param {ReadonlyArray<string>} ids */
export const emojiLine = (ids) =>
  h(
    "span",
    { class: "emoji-line" },
    ids.flatMap((id) => [h("span", {}, id), " "]),
  )

/**
 * A note below a list that does not contain all entries. Returns false if the list is complete.
 * @param {ReadonlyArray<unknown>} shown @param {number} total
 */
export const cut = (shown, total) =>
  shown.length < total && h("p", { class: "soft small" }, `Showing the newest ${shown.length} of ${total}.`)

/** @param {string} text @param {string} [kind] */
export const badge = (text, kind = "") => h("span", { class: `badge ${kind}` }, text)

/** @param {string} sign @param {string} text @param {...Child} more */
export const empty = (sign, text, ...more) =>
  h(
    "div",
    { class: "empty" },
    h("p", { class: "emoji", "aria-hidden": "true" }, sign),
    h("p", {}, text),
    more,
  )
