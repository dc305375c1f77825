import type { ChannelState } from "../../../client/live/channel-state.ts"
import type { View } from "../main.ts"
import { emojiText, h, keyed } from "../parts/dom.ts"
import { idForm } from "../parts/picker.ts"
import type { Lifetime } from "../parts/signal.ts"
import { subscribe } from "../platform/live.ts"
import { loadVocabulary } from "../vocabulary.ts"
import { lookupCard } from "./card.ts"
import { home } from "./home.ts"

/** A list of recent sales and releases that is updated live. */
const marketStory = (lifetime: Lifetime) => {
  const list = h("ul", { class: "story" })
  const entries: Array<{ readonly id: string; readonly at: string; readonly kind: string }> = []
  const section = h("section", { hidden: true }, h("h2", {}, "Recent activity"), list)
  const drawStory = () => {
    section.hidden = entries.length === 0
    keyed(list, entries.slice(0, 8), {
      key: ({ at, id, kind }) => `${kind} ${id} ${at}`,
      version: () => "",
      render: ({ id, kind }) =>
        h(
          "li",
          {},
          h("a", { href: `#/lookup/${encodeURIComponent(id)}`, class: "story-id" }, emojiText(id)),
          h("span", { class: "soft small" }, kind),
        ),
    })
  }
  lifetime.onEnd(
    subscribe("market", {
      onState: (state) => {
        const { result } = state as ChannelState<"market">
        entries.splice(
          0,
          entries.length,
          ...result.map(({ emoji_id }) => ({ id: emoji_id, at: "", kind: "sold" })),
        )
        drawStory()
      },
      onEvent: (event, data, at) => {
        entries.unshift({
          id: (data as { readonly emoji_id: string }).emoji_id,
          at,
          kind: event === "market.released" ? "available again" : "sold",
        })
        drawStory()
      },
    }),
  )
  return section
}

/**
 * The text that the user typed into the form of the server's page while the scripts were loading. Undefined if the
 * user typed nothing, or if a view has replaced that form.
 */
const typedEarly = (): string | undefined => {
  const input = document.querySelector<HTMLInputElement>("#view > form input")
  return input === null || input.value === input.defaultValue ? undefined : input.value
}

export const draw: View["draw"] = async (root, lifetime, [requested]) => {
  const id = requested ?? new URLSearchParams(location.search).get("emoji_id") ?? ""
  const { categories } = await loadVocabulary()
  const form = idForm({
    label: "Emoji id",
    button: "Look up",
    value: typedEarly() ?? id,
    view: "lookup",
  })
  root.append(
    h("h1", {}, "Look up an emoji id"),
    h(
      "p",
      { class: "lead soft" },
      "An emoji id is a short name made of emoji. It leads to the payment addresses, links and keys of its owner.",
    ),
    form,
  )
  if (id === "") root.append(...home())
  else root.append(lookupCard({ id, categories, lifetime }))
  root.append(marketStory(lifetime))
  return id === "" ? "Look up" : id
}
