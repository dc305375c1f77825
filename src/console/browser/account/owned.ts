import { emojiText, empty, fill, h } from "../parts/dom.ts"
import type { Lifetime } from "../parts/signal.ts"
import type { Section } from "../parts/subnav.ts"
import { readIdsWithFacts } from "../platform/api.ts"
import { ownedChanges } from "../platform/store.ts"
import { drawRecords } from "../records/editor.ts"

const drawList = async (place: Element, lifetime: Lifetime): Promise<void> => {
  const list = h("ul", { class: "tiles" })
  const load = async () => {
    const ids = await readIdsWithFacts()
    if (ids.length === 0) {
      fill(
        place,
        empty(
          "🫙",
          "You do not own any ids yet.",
          h("a", { class: "button", href: "#/market" }, "Find an id"),
        ),
      )
      return
    }
    fill(
      list,
      ids.map((item) => {
        const id = item.display_format
        return h(
          "li",
          { class: "card tile-card" },
          h("a", { class: "tile-id", href: `#/ids/${encodeURIComponent(id)}` }, emojiText(id)),
          h("p", { class: "small soft" }, `score ${item.rhythm_score}`),
          h(
            "a",
            {
              class: "button plain",
              href: `#/ids/${encodeURIComponent(id)}`,
              "aria-label": `Records of ${id}`,
            },
            "Records",
          ),
        )
      }),
    )
    fill(place, list)
  }
  await load()
  let first = true
  lifetime.onEnd(
    ownedChanges.watch(() => {
      if (!first) load().catch(() => {})
      first = false
    }),
  )
}

export const drawIds: Section["draw"] = (place, lifetime, [id]) =>
  id === undefined ? drawList(place, lifetime) : drawRecords(place, lifetime, id)
