import { choice, empty, fill, h } from "../parts/dom.ts"
import { readIds } from "../platform/api.ts"

/**
 * Lets the user choose one of the own ids, and draws it with `show`. The first id, or the one of the URL, is chosen at
 * the start.
 */
export const drawForId = async (
  place: Element,
  wanted: string | undefined,
  show: (place: HTMLElement, id: string) => Promise<void>,
): Promise<void> => {
  const ids = await readIds()
  const [first] = ids
  if (first === undefined) {
    fill(
      place,
      empty("🫙", "You do not own any ids yet.", h("a", { class: "button", href: "#/market" }, "Find an id")),
    )
    return
  }
  const shown = h("div", {})
  const picker = choice(
    "Emoji id",
    "id",
    ids.map((id) => [id, id] as const),
    { onchange: ({ currentTarget }) => show(shown, currentTarget.value) },
  )
  const select = picker.querySelector("select")
  const id = wanted !== undefined && ids.includes(wanted) ? wanted : first
  if (select !== null) select.value = id
  fill(place, h("div", { class: "narrow" }, picker), shown)
  await show(shown, id)
}
