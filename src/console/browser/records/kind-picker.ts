import { field, fill, firstInput, h } from "../parts/dom.ts"
import { findKinds, groups, type Kind, kinds } from "./kinds.ts"

const kindButton = (kind: Kind, pick: (kind: Kind) => void) =>
  h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "kind", onclick: () => pick(kind) },
      h("strong", {}, kind.name),
      h("span", { class: "soft small" }, kind.hint),
    ),
  )

const kindList = (found: ReadonlyArray<Kind>, pick: (kind: Kind) => void) =>
  h(
    "ul",
    { class: "kinds" },
    found.map((kind) => kindButton(kind, pick)),
  )

/** The groups of kinds. Long and rarely used groups are closed. */
const grouped = (pick: (kind: Kind) => void) =>
  groups.map((group) => {
    const members = kinds.filter((kind) => kind.group === group)
    return h(
      "details",
      { class: "kind-group", open: group === "Popular" || group === "Links and texts" },
      h("summary", {}, group, h("span", { class: "soft small" }, ` ${members.length}`)),
      kindList(members, pick),
    )
  })

/** Lets the user choose the kind of a new record from groups, or find it by typing. */
export const kindPicker = (pick: (kind: Kind) => void) => {
  const shown = h("div", {})
  const status = h("p", { class: "unseen", role: "status" })
  const show = (typed: string): void => {
    if (typed.trim() === "") {
      fill(status)
      fill(shown, grouped(pick))
      return
    }
    const found = findKinds(typed)
    fill(status, `${found.length} found`)
    fill(
      shown,
      found.length === 0
        ? h("p", { class: "soft" }, "Nothing found. For a coin that is not in the list, choose “Other coin”.")
        : kindList(found, pick),
    )
  }
  const search = field("What do you want to add?", {
    type: "search",
    name: "kind",
    placeholder: "Bitcoin, link, nickname …",
  })
  const input = firstInput(search)
  input.addEventListener("input", () => show(input.value))
  show("")
  // Enter chooses the only result, so that the mouse is not needed.
  input.addEventListener("keydown", (event) => {
    const found = findKinds(input.value)
    if (event.key === "Enter" && input.value.trim() !== "" && found[0] !== undefined) {
      event.preventDefault()
      pick(found[0])
    }
  })
  return h("div", {}, search, status, shown)
}
