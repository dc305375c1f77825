/** Functions that create DOM elements. Content is always inserted as text, never as HTML. */

export type Child = Node | string | number | boolean | null | undefined | ReadonlyArray<Child>

type Listeners<E extends HTMLElement> = {
  readonly [T in keyof HTMLElementEventMap as `on${T}`]?:
    | ((event: HTMLElementEventMap[T] & { readonly currentTarget: E }) => unknown)
    | undefined
}
export type Properties<E extends HTMLElement = HTMLElement> = Listeners<E> & {
  readonly [name: string]: unknown
}

const flatten = (child: Child): Array<Node | string> => {
  if (Array.isArray(child)) return child.flatMap(flatten)
  if (typeof child === "boolean" || child === null || child === undefined) return []
  return [child instanceof Node ? child : String(child)]
}

const domProperties: ReadonlySet<string> = new Set(["value", "checked", "disabled", "open"])

/**
 * Creates an element. A property with a function, such as `onclick`, becomes a listener. Properties with the value
 * false, null or undefined are left out.
 */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {} as Properties<HTMLElementTagNameMap[K]>,
  ...children: ReadonlyArray<Child>
): HTMLElementTagNameMap[K] => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener)
    else if (domProperties.has(name)) Object.assign(element, { [name]: value })
    else element.setAttribute(name, value === true ? "" : String(value))
  }
  element.append(...flatten(children))
  return element
}

export const fill = (element: Element, ...children: ReadonlyArray<Child>): void =>
  element.replaceChildren(...flatten(children))
