import { byId, h } from "./dom.ts"

const shownMs = 8000
const maxNotices = 4

/** Shows a notice in the corner. Screen readers announce it. */
export const notify = (text: string, kind: "good" | "bad" | "warn" | "" = ""): void => {
  const box = byId("notices")
  const notice: HTMLParagraphElement = h(
    "p",
    { class: `toast ${kind}` },
    h("span", {}, text),
    h("button", { class: "icon-button", "aria-label": "Dismiss", onclick: (): void => notice.remove() }, "×"),
  )
  box.append(notice)
  while (box.children.length > maxNotices) box.firstElementChild?.remove()
  setTimeout(() => notice.remove(), shownMs)
}
