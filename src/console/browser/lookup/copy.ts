import { confirmAction } from "../parts/dialog.ts"
import { fill, h } from "../parts/dom.ts"
import { icon } from "../parts/icon.ts"
import { notify } from "../parts/notices.ts"

const shownMs = 2000

const select = (element: Element): void => getSelection()?.selectAllChildren(element)

/** Asks whether data that may be out of date is used anyway. Without a lost connection it does not ask. */
export const confirmStale = async (isStale: boolean, yes: string): Promise<boolean> =>
  !isStale ||
  confirmAction({
    question: "This may be out of date",
    consequence:
      "The connection to the service is lost. The owner may have changed the address since. Wait until the connection is back, or ask the recipient before you pay.",
    yes,
  })

interface Copy {
  /** What is copied, such as "BTC address". */
  readonly what: string
  /** The element that shows the text. It is selected if the browser does not let the page copy. */
  readonly shown: Element
  readonly isStale: () => boolean
}

/** A button that copies the text that an element shows. */
export const copyButton = ({ isStale, shown, what }: Copy): HTMLButtonElement => {
  const label = (name: "copy" | "check", word: string) => [icon(name), h("span", {}, word)]
  const button = h(
    "button",
    {
      type: "button",
      class: "plain small with-icon",
      "aria-label": `Copy ${what}`,
      onclick: async () => {
        if (!(await confirmStale(isStale(), "Copy anyway"))) return
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
