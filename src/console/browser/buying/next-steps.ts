import { type Child, emojiText, h } from "../parts/dom.ts"

export const lookupHash = (id: string): string => `#/lookup/${encodeURIComponent(id)}`
export const recordsHash = (id: string): string => `#/ids/${encodeURIComponent(id)}`

/** An id that the user has received, with the two things to do next. */
const newId = (id: string, isOnly: boolean, label: string) =>
  h(
    "li",
    { class: "new-id" },
    emojiText(id),
    h(
      "span",
      { class: "row" },
      h("a", { class: "button plain", href: lookupHash(id), "aria-label": `View ${id}` }, "View"),
      h(
        "a",
        {
          class: isOnly ? "button" : "button plain",
          href: recordsHash(id),
          "aria-label": `${label}: ${id}`,
        },
        label,
      ),
    ),
  )

/** `label` names the step to the records: an id that was bought has none, one from somebody else may have some. */
export const newIds = (ids: ReadonlyArray<string>, label = "Add records") =>
  ids.length > 0 &&
  h(
    "ul",
    { class: "plain-list new-ids" },
    ids.map((id) => newId(id, ids.length === 1, label)),
  )

/** The top of a page that says that something was completed. */
export const success = (title: string, ...children: ReadonlyArray<Child>) =>
  h(
    "div",
    { class: "success" },
    h("p", { class: "success-sign", "aria-hidden": "true" }, "✓"),
    h("h1", {}, title),
    children,
  )
