import { h } from "../../web/browser/elements.ts"

let fields = 0

/** A label with its input or text area. */
export const labelled = (label: string, input: HTMLElement): HTMLElement => {
  input.id = `docs-field-${++fields}`
  return h("p", { class: "field" }, h("label", { for: input.id }, label), input)
}
