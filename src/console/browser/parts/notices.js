import { h } from "./dom.js"

const shownMs = 8000
const most = 4

/** Says something in the corner, and to screen readers. @param {string} text @param {"good" | "bad" | "warn" | ""} [kind] */
export const notify = (text, kind = "") => {
  const box = document.getElementById("notices")
  const notice = h(
    "p",
    { class: `toast ${kind}` },
    h("span", {}, text),
    h("button", { class: "icon-button", "aria-label": "Dismiss", onclick: () => notice.remove() }, "×"),
  )
  box.append(notice)
  while (box.children.length > most) box.firstElementChild.remove()
  setTimeout(() => notice.remove(), shownMs)
}
