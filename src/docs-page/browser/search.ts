import { h } from "../../web/browser/elements.ts"

const mostResults = 12

interface Entry {
  readonly kind: string
  readonly title: string
  readonly href: string
  readonly words: string
}

/** How well an entry matches, or 0. Every word must occur; words in the title or the path count most. */
const scoreOf = ({ kind, title, words: more }: Entry, words: ReadonlyArray<string>): number => {
  let score = 0
  for (const word of words) {
    const at = title.toLowerCase().indexOf(word)
    if (at === 0) score += 6
    else if (at > 0) score += 4
    else if (kind.toLowerCase().includes(word)) score += 3
    else if (more.toLowerCase().includes(word)) score += 1
    else return 0
  }
  return score
}

/** Adds a search field. The index is loaded when the field gets the focus for the first time. */
export const startSearch = (place: HTMLElement): void => {
  let index: Promise<ReadonlyArray<Entry>> | undefined
  const load = (): Promise<ReadonlyArray<Entry>> => {
    index ??= fetch(place.dataset["index"] ?? "")
      .then((response) => response.json() as Promise<ReadonlyArray<Entry>>)
      .catch(() => {
        index = undefined
        return []
      })
    return index
  }
  let active = -1
  const list = h("ul", { id: "search-results", role: "listbox", "aria-label": "Results", hidden: true })
  const state = h("p", { class: "unseen", role: "status" })
  const input = h("input", {
    ...{
      type: "search",
      id: "search-field",
      placeholder: "Search  /",
      autocomplete: "off",
      spellcheck: "false",
    },
    ...{ role: "combobox", "aria-label": "Search the API reference", "aria-expanded": "false" },
    ...{ "aria-controls": "search-results", "aria-autocomplete": "list" },
  })

  const mark = (to: number): void => {
    const options = [...list.children]
    active = options.length === 0 ? -1 : (to + options.length) % options.length
    for (const [place, option] of options.entries()) {
      option.setAttribute("aria-selected", String(place === active))
      if (place === active) option.scrollIntoView({ block: "nearest" })
    }
    if (active < 0) input.removeAttribute("aria-activedescendant")
    else input.setAttribute("aria-activedescendant", options[active]?.id ?? "")
  }
  const close = (): void => {
    list.hidden = true
    input.setAttribute("aria-expanded", "false")
    input.removeAttribute("aria-activedescendant")
  }
  const show = async (): Promise<void> => {
    const text = input.value.trim().toLowerCase()
    if (text === "") {
      close()
      return
    }
    const words = text.split(/\s+/)
    const entries = await load()
    if (input.value.trim().toLowerCase() !== text) return
    const found = entries
      .map((entry) => ({ entry, score: scoreOf(entry, words) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, mostResults)
    list.replaceChildren(
      ...found.map(({ entry }, place) =>
        h(
          "li",
          { id: `search-result-${place}`, role: "option" },
          h(
            "a",
            { href: entry.href, tabindex: "-1", onclick: close },
            entry.title,
            h("span", {}, entry.kind),
          ),
        ),
      ),
    )
    state.textContent = found.length === 0 ? "Nothing found." : `${found.length} results.`
    if (found.length === 0) list.append(h("li", { class: "soft none" }, "Nothing found."))
    list.hidden = false
    input.setAttribute("aria-expanded", "true")
    if (found.length > 0) mark(0)
  }

  input.addEventListener("focus", load)
  input.addEventListener("input", show)
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      mark(active + (event.key === "ArrowDown" ? 1 : -1))
    } else if (event.key === "Enter") {
      event.preventDefault()
      list.querySelector<HTMLElement>('[aria-selected="true"] a')?.click()
    } else if (event.key === "Escape") {
      input.value = ""
      close()
    }
  })
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select")
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    if (input.offsetParent === null) location.hash = "#menu"
    input.focus()
  })
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !place.contains(event.target)) close()
  })
  place.append(input, list, state)
}
