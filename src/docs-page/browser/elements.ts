type Listeners<E extends HTMLElement> = {
  readonly [T in keyof HTMLElementEventMap as `on${T}`]?: (
    event: HTMLElementEventMap[T] & { readonly currentTarget: E },
  ) => unknown
}
type Properties<E extends HTMLElement> = Listeners<E> & { readonly [name: string]: unknown }

/** Creates an element. A property with a function, such as `onclick`, becomes a listener. Texts are inserted as text. */
export const element = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties<HTMLElementTagNameMap[K]> = {} as Properties<HTMLElementTagNameMap[K]>,
  ...children: ReadonlyArray<Node | string>
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value as EventListener)
    else if (value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : String(value))
  }
  made.append(...children)
  return made
}

let fields = 0

/** A label with its input or text area. */
export const labelled = (label: string, input: HTMLElement): HTMLElement => {
  input.id = `docs-field-${++fields}`
  return element("p", { class: "field" }, element("label", { for: input.id }, label), input)
}
