/**
 * Creates an element. A property with a function, such as `onclick`, becomes a listener. Texts are inserted as text.
 * @param {string} tag @param {Record<string, unknown>} [properties] @param {...(Node | string)} children
 */
export const element = (tag, properties = {}, ...children) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value)
    else if (value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : String(value))
  }
  made.append(...children)
  return made
}

let fields = 0

/** A label with its input or text area. @param {string} label @param {HTMLElement} input */
export const labelled = (label, input) => {
  input.id = `docs-field-${++fields}`
  return element("p", { class: "field" }, element("label", { for: input.id }, label), input)
}
