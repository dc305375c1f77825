import { recordView } from "./account/records.js"
import { badge, emojiText, fill, h, keyed } from "./parts/dom.js"
import { idForm } from "./parts/picker.js"
import { get, pathOf } from "./platform/api.js"
import { explain } from "./platform/http.js"
import { follow, subscribe } from "./platform/live.js"
import { loadVocabulary } from "./vocabulary.js"

const eventWords = {
  "emoji_id.records": "Its records changed just now.",
  "emoji_id.owner": "It has a new owner. Check before you send anything.",
  "emoji_id.registered": "It was registered just now.",
  "emoji_id.released": "It was given up just now.",
}

/** One id, watched. */
const watched = (id, categories, life) => {
  const records = h("ul", { class: "records" })
  const state = h("p", { class: "center" })
  const facts = h("p", { class: "center soft" })
  const news = h("p", { class: "center news", role: "status" })
  const shownId = h("p", { class: "center" }, emojiText(id, "huge"))
  const card = h(
    "section",
    { class: "card lookup", "aria-label": `What ${id} points at` },
    shownId,
    facts,
    state,
    records,
    news,
  )

  const showResult = (result) => {
    if (life.isOver) return
    fill(shownId, emojiText(result.canonical ?? id, "huge"))
    fill(
      state,
      result.status
        ? [badge("Registered", "good"), " ", h("span", { class: "soft small" }, `version ${result.version}`)]
        : [
            badge("Not registered"),
            " ",
            h("a", { href: `#/market/${encodeURIComponent(id)}` }, "See what it costs"),
          ],
    )
    keyed(records, result.result, {
      key: ({ hash }) => hash,
      version: ({ hash }) => hash,
      render: (record) => h("li", {}, recordView(record, categories)),
    })
    if (result.status && result.result.length === 0)
      fill(records, h("li", { class: "soft" }, "It has no records yet."))
  }

  life.keep(
    follow(id, {
      onResult: (result, isChange) => {
        showResult(result)
        if (isChange) for (const entry of records.children) entry.classList.add("seen")
      },
      onEvent: (event) => fill(news, eventWords[event] ?? ""),
      onRefused: (error) => fill(card, h("p", { class: "bad", role: "alert" }, error)),
    }),
  )
  Promise.all([get(`${pathOf(id)}/rhythm`), get(`${pathOf(id)}/metadata`)]).then(
    ([{ rhythm }, { shape }]) => fill(facts, `Rhythm score ${rhythm}`, shape && ` · ${shape}`),
    (error) => fill(card, h("p", { class: "bad", role: "alert" }, explain(error))),
  )
  return card
}

/** The market's story, as it goes on. */
const marketStory = (life) => {
  const list = h("ul", { class: "story" })
  const entries = []
  const section = h("section", { hidden: true }, h("h2", {}, "Lately"), list)
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
  life.keep(
    subscribe("market", {
      onState: (state) => {
        const listed = Array.isArray(state) ? state : (state?.result ?? [])
        entries.splice(
          0,
          entries.length,
          ...listed.map(({ at, emoji_id }) => ({ id: emoji_id, at: at ?? "", kind: "bought" })),
        )
        drawStory()
      },
      onEvent: (event, data, at) => {
        entries.unshift({
          id: data.emoji_id,
          at,
          kind: event === "market.released" ? "free again" : "bought",
        })
        drawStory()
      },
    }),
  )
  return section
}

export const draw = async (root, life, [asked]) => {
  const id = asked ?? new URLSearchParams(location.search).get("emoji_id") ?? ""
  const { categories } = await loadVocabulary()
  const { form } = idForm({
    label: "Emoji id",
    button: "Look up",
    value: id,
    view: "lookup",
  })
  root.append(
    h("h1", {}, "Look up an emoji id"),
    h(
      "p",
      { class: "soft" },
      "A short row of emoji that stands for payment addresses, links and keys. What you look at stays up to date by itself.",
    ),
    form,
  )
  if (id !== "") root.append(watched(id, categories, life))
  root.append(marketStory(life))
  return id === "" ? "Look up" : id
}
