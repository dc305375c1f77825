import { h } from "./dom.js"

const shownMs = 8000
const maxNotices = 4

/** Shows a notice in the corner. Screen readers announce it. @param {string} text @param {"good" | "bad" | "warn" | ""} [kind] */
export const notify = (text, kind = "") => {
  const box = document.getElementById("notices")
  const notice = h(
    "p",
    { class: `toast ${kind}` },
    h("span", {}, text),
    h("button", { class: "icon-button", "aria-label": "Dismiss", onclick: () => notice.remove() }, "×"),
  )
  box.append(notice)
  while (box.children.length > maxNotices) box.firstElementChild.remove()
  setTimeout(() => notice.remove(), shownMs)
}
