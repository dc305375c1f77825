import type { LiveLookupResult } from "../../client/api-types.ts"
import type { ChannelState } from "../../client/live/channel-state.ts"
import { recordView } from "./account/records.ts"
import type { View } from "./main.ts"
import { badge, emojiText, fill, h, keyed } from "./parts/dom.ts"
import { idForm } from "./parts/picker.ts"
import type { Lifetime } from "./parts/signal.ts"
import { call } from "./platform/api.ts"
import { explain } from "./platform/http.ts"
import { follow, subscribe } from "./platform/live.ts"
import { loadVocabulary } from "./vocabulary.ts"

const eventLabels: Readonly<Record<string, string>> = {
  "emoji_id.records": "The records were just updated.",
  "emoji_id.owner": "This id has a new owner. Check the records before you send anything.",
  "emoji_id.minted": "The token of this id was just recorded.",
  "emoji_id.registered": "This id was just registered.",
  "emoji_id.released": "This id was just released.",
}

/** Shows one id and updates it live. */
const watched = (id: string, categories: Readonly<Record<string, string>>, lifetime: Lifetime) => {
  const records = h("ul", { class: "records" })
  const state = h("p", { class: "center" })
  const facts = h("p", { class: "center soft" })
  const news = h("p", { class: "center news", role: "status" })
  const shownId = h("p", { class: "center" }, emojiText(id, "huge"))
  const card = h(
    "section",
    { class: "card lookup", "aria-label": `Lookup result for ${id}` },
    shownId,
    facts,
    state,
    records,
    news,
  )

  const showError = (text: string): void => fill(card, h("p", { class: "bad", role: "alert" }, text))

  const showResult = (result: LiveLookupResult): void => {
    if (lifetime.hasEnded) return
    if (result.error !== null) {
      showError(result.error.reason)
      return
    }
    fill(shownId, emojiText(result.canonical ?? id, "huge"))
    fill(
      state,
      result.status
        ? [badge("Registered", "good"), " ", h("span", { class: "soft small" }, `version ${result.version}`)]
        : [badge("Not registered"), " ", h("a", { href: `#/market/${encodeURIComponent(id)}` }, "See price")],
    )
    keyed(records, result.result, {
      key: ({ hash }) => hash,
      version: ({ hash }) => hash,
      render: (record) => h("li", {}, recordView(record, categories)),
    })
    if (result.status && result.result.length === 0)
      fill(records, h("li", { class: "soft" }, "This id has no records yet."))
  }

  lifetime.onEnd(
    follow(id, {
      onResult: (result, isChange) => {
        showResult(result)
        if (isChange) for (const entry of records.children) entry.classList.add("seen")
      },
      onEvent: (event) => fill(news, eventLabels[event] ?? ""),
    }),
  )
  const params = { emoji_id: id }
  Promise.all([
    call("GET /emoji_id/{emoji_id}/rhythm", { params }),
    call("GET /emoji_id/{emoji_id}/metadata", { params }),
  ]).then(
    ([{ rhythm }, { shape }]) => fill(facts, `Rhythm score ${rhythm}`, shape && ` · ${shape}`),
    (error: unknown) => showError(explain(error)),
  )
  return card
}

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
      { class: "soft" },
      "An emoji id is a short sequence of emoji that points to payment addresses, links and keys. Results update automatically.",
    ),
    form,
  )
  if (id !== "") root.append(watched(id, categories, lifetime))
  root.append(marketStory(lifetime))
  return id === "" ? "Look up" : id
}
