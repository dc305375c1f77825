import { explain } from "../platform/http.ts"
import { loadVocabulary, readId } from "../vocabulary.ts"
import { field, fill, firstInput, h } from "./dom.ts"
import { icon } from "./icon.ts"
import { notify } from "./notices.ts"

const segmenter = new Intl.Segmenter()

const withoutLast = (text: string): string =>
  [...segmenter.segment(text)]
    .map(({ segment }) => segment)
    .slice(0, -1)
    .join("")

const signs = "[data-emoji]"
const shownSigns = "[data-emoji]:not([hidden])"
const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 0, ArrowUp: 0 }

/** Moves the focus in the grid with the arrow keys. Only one button of the grid is a tab stop. */
const moveFocus = (event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void => {
  const { currentTarget, key, target } = event
  const step = steps[key]
  if (step === undefined || !(target instanceof HTMLElement) || !target.matches(signs)) return
  event.preventDefault()
  const buttons = [...currentTarget.querySelectorAll<HTMLElement>(shownSigns)]
  const at = buttons.indexOf(target)
  let to = at + step
  if (key === "ArrowDown" || key === "ArrowUp") {
    const { left, top } = target.getBoundingClientRect()
    const isBeyond = key === "ArrowDown" ? (y: number) => y > top + 4 : (y: number) => y < top - 4
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
  target.tabIndex = -1
  next.tabIndex = 0
  next.focus()
}

const makePicker = async (pick: (emoji: string) => void) => {
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
        const pressed = event.target instanceof Element ? event.target.closest<HTMLElement>(signs) : null
        const sign = pressed?.dataset["emoji"]
        if (sign !== undefined) pick(sign)
      },
    },
    sections,
    nothing,
  )
  const first = () => grid.querySelector<HTMLElement>(shownSigns)
  const search = field("Find an emoji by name", {
    type: "search",
    placeholder: "rocket",
    oninput: ({ currentTarget }) => {
      const wanted = currentTarget.value.trim().toLowerCase().replaceAll(" ", "_")
      for (const section of sections) {
        let shown = 0
        for (const button of section.querySelectorAll<HTMLElement>(signs)) {
          button.hidden = button.dataset["name"]?.includes(wanted) !== true
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
      const sign = first()?.dataset["emoji"]
      if (sign !== undefined) pick(sign)
    },
  })
  const top = first()
  if (top !== null) top.tabIndex = 0
  return h("div", { class: "picker card" }, search, grid)
}

interface IdForm {
  readonly label: string
  readonly button: string
  readonly value?: string
  readonly view: string
}

/**
 * A form to enter an id as emoji, as names, or with the emoji picker. When it is submitted, the view shows the id. If
 * the view already shows the id, it is loaded again.
 */
export const idForm = ({ button, label, value = "", view }: IdForm): HTMLFormElement => {
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
  const toggle: HTMLButtonElement = h(
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
          firstInput(picker).focus()
        } catch (error) {
          toggle.setAttribute("aria-expanded", "false")
          notify(explain(error), "bad")
        }
      },
    },
    icon("smile"),
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
    icon("delete"),
  )
  return h(
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
}
