import { actionForm } from "../parts/actions.ts"
import { field, h } from "../parts/dom.ts"

interface Search {
  readonly label: string
  readonly hint: string
  readonly maxlength: number
  /** Shows what was found. An empty text finds everything. */
  readonly find: (text: string) => Promise<unknown>
}

/** A form that searches a list. */
export const searchForm = ({ find, hint, label, maxlength }: Search) =>
  h(
    "div",
    { role: "search" },
    actionForm(
      {
        label: "Search",
        sign: "search",
        plain: true,
        submit: (values) => find(values.text("search").trim()),
      },
      field(label, { name: "search", type: "search", maxlength: String(maxlength) }, hint),
    ),
  )
