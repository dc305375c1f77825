/**
 * Restores the focus after the focused element was redrawn or removed, by the user or by a live update. Without this,
 * keyboard users would have to start again at the top of the page.
 */

/** The last focused element and its ancestors, each with its index among its siblings. */
let last: ReadonlyArray<{ readonly element: HTMLElement; readonly at: number }> = []
/** A selector that finds the last focused element again after it was redrawn. */
let selector: string | undefined
/** The element that received the focus because the previously focused element was removed. */
let place: HTMLElement | undefined

/**
 * Returns a selector for the element: by href for links, or by aria-label if the label is unique. Otherwise returns
 * undefined.
 */
const selectorOf = (element: HTMLElement): string | undefined => {
  const quoted = (name: string) => `[${name}="${CSS.escape(element.getAttribute(name) ?? "")}"]`
  if (element.hasAttribute("href")) return quoted("href")
  if (!element.hasAttribute("aria-label")) return undefined
  return document.querySelectorAll(quoted("aria-label")).length === 1 ? quoted("aria-label") : undefined
}

const remember = (target: HTMLElement): void => {
  selector = selectorOf(target)
  const path: Array<(typeof last)[number]> = []
  for (let element: HTMLElement | null = target; element !== null; element = element.parentElement)
    path.push({ element, at: [...(element.parentElement?.children ?? [])].indexOf(element) })
  last = path
}

const tryFocus = (element: HTMLElement | null): boolean => {
  element?.focus({ preventScroll: true })
  return document.activeElement === element
}

const restoreFocus = (): void => {
  const [focused] = last
  if (focused === undefined || document.activeElement !== document.body) return
  const { element } = focused
  if (element.isConnected) {
    // Input fields are skipped, because focusing one would reopen a phone's keyboard.
    if (element.matches("a, button:enabled")) tryFocus(element)
    return
  }
  const left = last.findIndex((outer) => outer.element.isConnected)
  let found = last[left]?.element
  if (found === undefined || found === document.body) return
  if (selector !== undefined && tryFocus(found.querySelector<HTMLElement>(selector))) return
  // The row gets the focus, and not the next button in the row: if a key is pressed twice, it must not start another
  // action.
  for (const inner of last.slice(element === place ? 0 : 1, left).reverse()) {
    const next: Element | null = found.children[inner.at] ?? found.lastElementChild
    if (!(next instanceof HTMLElement) || next.tagName !== inner.element.tagName) break
    found = next
    if (found.matches("li, tr")) break
  }
  place = found
  place.setAttribute("tabindex", "-1")
  tryFocus(place)
}

export const keepFocus = (): void => {
  addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement) remember(target)
  })
  // After a click, the focus is not restored, because the user has left the element.
  addEventListener("pointerdown", () => {
    last = []
  })
  new MutationObserver(restoreFocus).observe(document.body, { childList: true, subtree: true })
}
