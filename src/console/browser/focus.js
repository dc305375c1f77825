/**
 * What has the focus may be drawn anew or taken away, by its own button or by news from elsewhere. Whoever works by keys
 * would begin at the top of the page again: they go on with the same thing, or where it was.
 */

/** What had the focus, and what it was in, each with its place among its neighbours. @type {ReadonlyArray<{element: HTMLElement, at: number}>} */
let last = []
/** Finds it again once it was drawn anew. @type {string | undefined} */
let selector
/** Where the focus was put because what had it was gone. */
let place

/** Links by where they lead; others by their name, if nothing else has it. @param {HTMLElement} element */
const selectorOf = (element) => {
  const quoted = (name) => `[${name}="${CSS.escape(element.getAttribute(name))}"]`
  if (element.hasAttribute("href")) return quoted("href")
  if (!element.hasAttribute("aria-label")) return undefined
  return document.querySelectorAll(quoted("aria-label")).length === 1 ? quoted("aria-label") : undefined
}

/** @param {HTMLElement} target */
const remember = (target) => {
  selector = selectorOf(target)
  last = []
  for (let element = target; element !== null; element = element.parentElement)
    last.push({ element, at: [...(element.parentElement?.children ?? [])].indexOf(element) })
}

/** @param {HTMLElement | null} element */
const tryFocus = (element) => {
  element?.focus({ preventScroll: true })
  return document.activeElement === element
}

const mend = () => {
  if (last.length === 0 || document.activeElement !== document.body) return
  const [{ element }] = last
  if (element.isConnected) {
    // No field: a phone's keyboard that was sent away would come back.
    if (element.matches("a, button:enabled")) tryFocus(element)
    return
  }
  const left = last.findIndex((outer) => outer.element.isConnected)
  let found = last[left].element
  if (found === document.body) return
  if (selector !== undefined && tryFocus(found.querySelector(selector))) return
  // Not the neighbour itself, only what it is in: a key pressed twice would do what nobody meant.
  for (const inner of last.slice(element === place ? 0 : 1, left).reverse()) {
    const next = found.children[inner.at] ?? found.lastElementChild
    if (next?.tagName !== inner.element.tagName) break
    found = next
    if (found.matches("li, tr")) break
  }
  place = found
  place.setAttribute("tabindex", "-1")
  tryFocus(place)
}

export const keepFocus = () => {
  addEventListener("focusin", ({ target }) => remember(target))
  // Whoever points elsewhere has left it.
  addEventListener("pointerdown", () => {
    last = []
  })
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true })
}
