import { byId, h } from "./dom.ts"
import { placeFreely } from "./free-place.ts"

type Kind = "good" | "bad" | "warn" | ""

const shownMs = 8000
/** An error is shown longer, because the user may need it to decide what to do. */
const errorShownMs = 20_000
/** How long a notice stays after the user has moved the pointer or the focus away from it. */
const shownAfterReadingMs = 4000
const maxNotices = 4

/** The notices with the functions that remove them and that start their time again. */
const shown = new Map<HTMLElement, { readonly remove: () => void; readonly wait: (ms: number) => void }>()
let isWatched = false

const isRead = (box: HTMLElement): boolean => box.matches(":hover, :focus-within")

/** While the user reads a notice, none of them disappears. Escape removes the notice that has the focus. */
const watch = (box: HTMLElement): void => {
  if (isWatched) return
  isWatched = true
  const waitAgain = () => {
    for (const { wait } of shown.values()) wait(shownAfterReadingMs)
  }
  box.addEventListener("pointerleave", waitAgain)
  box.addEventListener("focusout", waitAgain)
  box.addEventListener("keydown", ({ key, target }) => {
    if (key !== "Escape" || !(target instanceof Element)) return
    const notice = target.closest<HTMLElement>(".toast")
    if (notice !== null) shown.get(notice)?.remove()
  })
  placeFreely(box)
}

const removeOf = (text: string): void => {
  for (const [notice, { remove }] of shown) if (notice.firstElementChild?.textContent === text) remove()
}

/**
 * Shows a notice at a place where it covers no form. Screen readers announce it. The same notice is not shown twice
 * at a time.
 */
export const notify = (text: string, kind: Kind = ""): void => {
  const box = byId("notices")
  watch(box)
  removeOf(text)
  let timer: ReturnType<typeof setTimeout> | undefined
  const remove = (): void => {
    clearTimeout(timer)
    shown.delete(notice)
    notice.remove()
  }
  const wait = (ms: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => (isRead(box) ? wait(shownAfterReadingMs) : remove()), ms)
  }
  const notice = h(
    "p",
    { class: `toast ${kind}` },
    h("span", {}, text),
    h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: remove }, "×"),
  )
  shown.set(notice, { remove, wait })
  box.append(notice)
  const [oldest] = shown.values()
  if (shown.size > maxNotices) oldest?.remove()
  wait(kind === "bad" ? errorShownMs : shownMs)
}
