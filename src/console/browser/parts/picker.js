import { explain } from "../platform/http.js"
import { loadVocabulary, readId } from "../vocabulary.js"
import { field, fill, h } from "./dom.js"
import { notify } from "./notices.js"

const segmenter = "Segmenter" in Intl ? new Intl.Segmenter() : undefined

/** @param {string} text */
const withoutLast = (text) =>
  [...(segmenter?.segment(text) ?? text)]
    .map((part) => part.segment ?? part)
    .slice(0, -1)
    .join("")

/** Moves the focus in the grid with the arrow keys. Only one button of the grid is a tab stop. @param {KeyboardEvent} event */
const moveFocus = (event) => {
  const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }
  if (!(event.key in steps) || !event.target.matches("[data-emoji]")) return
  event.preventDefault()
  const buttons = [...event.currentTarget.querySelectorAll("[data-emoji]:not([hidden])")]
  const at = buttons.indexOf(event.target)
  let to = at + steps[event.key]
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    const { left, top } = event.target.getBoundingClientRect()
    const isBeyond = event.key === "ArrowDown" ? (y) => y > top + 4 : (y) => y < top - 4
    const rows = buttons
      .map((button, i) => ({ i, box: button.getBoundingClientRect() }))
      .filter(({ box }) => isBeyond(box.top))
    rows.sort(
      (a, b) =>
        Math.abs(a.box.top - top) - Math.abs(b.box.top - top) ||
        Math.abs(a.box.left - left) - Math.abs(b.box.left - left),
    )
    to = rows[0]?.i ?? at
  }
  const next = buttons[to]
  if (next === undefined) return
  event.target.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}

/** @param {(emoji: string) => void} pick */
const makePicker = async (pick) => {
  const { emoji } = await loadVocabulary()
  const sections = emoji.map(({ group, members }) =>
    h(
      "section",
      { class: "picker-group", "aria-label": group },
      h("h2", { class: "small soft" }, group),
      h(
        "div",
        { class: "picker-grid" },
        members.map(([sign, name]) =>
          h(
            "button",
            {
              type: "button",
              class: "pick",
              tabindex: "-1",
              "data-emoji": sign,
              "data-name": name,
              title: name.replaceAll("_", " "),
              "aria-label": name.replaceAll("_", " "),
            },
            sign,
          ),
        ),
      ),
    ),
  )
  const nothing = h("p", { class: "soft", hidden: true }, "No emoji found.")
  const grid = h(
    "div",
    {
      class: "picker-groups",
      onkeydown: moveFocus,
      onclick: (event) => {
        const sign = event.target.closest("[data-emoji]")?.dataset.emoji
        if (sign !== undefined) pick(sign)
      },
    },
    sections,
    nothing,
  )
  const first = () => grid.querySelector("[data-emoji]:not([hidden])")
  const search = field("Find an emoji by name", {
    type: "search",
    placeholder: "rocket",
    oninput: ({ target }) => {
      const wanted = target.value.trim().toLowerCase().replaceAll(" ", "_")
      for (const section of sections) {
        let shown = 0
        for (const button of section.querySelectorAll("[data-emoji]")) {
          button.hidden = !button.dataset.name.includes(wanted)
          button.tabIndex = -1
          if (!button.hidden) shown++
        }
        section.hidden = shown === 0
      }
      const top = first()
      nothing.hidden = top !== null
      if (top !== null) top.tabIndex = 0
    },
    onkeydown: (event) => {
      if (event.key !== "Enter") return
      event.preventDefault()
      const sign = first()?.dataset.emoji
      if (sign !== undefined) pick(sign)
    },
  })
  first().tabIndex = 0
  return h("div", { class: "picker card" }, search, grid)
}

/**
 * A form to enter an id as emoji, as names, or with the emoji picker. When it is submitted, the view shows the id. If
 * the view already shows the id, it is loaded again.
 * @param {{label: string, button: string, value?: string, view: string}} how
 */
export const idForm = ({ button, label, value = "", view }) => {
  const input = h("input", {
    id: "asked",
    name: "emoji_id",
    value,
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "200",
    required: true,
    placeholder: "🚀🌊🔥 or rocket ocean fire",
  })
  const slot = h("div", { id: "picker" })
  const toggle = h(
    "button",
    {
      type: "button",
      class: "plain",
      "aria-expanded": "false",
      "aria-controls": "picker",
      "aria-label": "Pick emoji",
      onclick: async () => {
        const isOpen = toggle.getAttribute("aria-expanded") === "true"
        toggle.setAttribute("aria-expanded", String(!isOpen))
        if (isOpen) return fill(slot)
        try {
          const picker = await makePicker((sign) => {
            input.value += sign
          })
          fill(slot, picker)
          picker.querySelector("input").focus()
        } catch (error) {
          toggle.setAttribute("aria-expanded", "false")
          notify(explain(error), "bad")
        }
      },
    },
    "😀",
  )
  const back = h(
    "button",
    {
      type: "button",
      class: "plain",
      "aria-label": "Delete the last emoji",
      onclick: () => {
        input.value = withoutLast(input.value)
      },
    },
    "⌫",
  )
  const form = h(
    "form",
    {
      role: "search",
      onsubmit: async (event) => {
        event.preventDefault()
        try {
          const next = `#/${view}/${encodeURIComponent(await readId(input.value))}`
          if (location.hash === next) dispatchEvent(new Event("hashchange"))
          else location.hash = next
        } catch (error) {
          notify(explain(error), "bad")
        }
      },
    },
    h("label", { for: "asked" }, label),
    h("div", { class: "id-field" }, input, back, toggle, h("button", {}, button)),
    slot,
  )
  return { form, input }
}
