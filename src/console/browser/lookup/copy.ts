import { confirmAction } from "../parts/dialog.ts"
import { fill, h } from "../parts/dom.ts"
import { icon } from "../parts/icon.ts"
import { notify } from "../parts/notices.ts"

const shownMs = 2000

const select = (element: Element): void => getSelection()?.selectAllChildren(element)

/** Asks whether data that may be wrong is used anyway. Without a doubt it does not ask. */
export const confirmDoubt = async (doubt: string | undefined, yes: string): Promise<boolean> =>
  doubt === undefined ||
  confirmAction({
    question: "This may be out of date",
    consequence: doubt,
    yes,
  })

interface Copy {
  /** What is copied, such as "BTC address". */
  readonly what: string
  /** The element that shows the text. It is selected if the browser does not let the page copy. */
  readonly shown: Element
  /** Why the text may be wrong. The user is asked before it is copied then. */
  readonly doubt: () => string | undefined
}

/** A button that copies the text that an element shows. */
export const copyButton = ({ doubt, shown, what }: Copy): HTMLButtonElement => {
  const label = (name: "copy" | "check", word: string) => [icon(name), h("span", {}, word)]
  const button = h(
    "button",
    {
      type: "button",
      class: "plain small with-icon",
      "aria-label": `Copy ${what}`,
      onclick: async () => {
        if (!(await confirmDoubt(doubt(), "Copy anyway"))) return
        try {
          await navigator.clipboard.writeText(shown.textContent)
        } catch {
          // Browsers allow this only to secure pages.
          select(shown)
          return notify(
            "Your browser does not let this page copy. The text is selected: copy it by hand.",
            "warn",
          )
        }
        notify(`Copied: ${what}.`, "good")
        fill(button, label("check", "Copied"))
        setTimeout(() => fill(button, label("copy", "Copy")), shownMs)
      },
    },
    label("copy", "Copy"),
  )
  return button
}
