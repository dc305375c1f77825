import { type Child, h } from "./dom.ts"

let dialogs = 0

interface Dialog {
  readonly title: string
  readonly submit: (event: SubmitEvent) => unknown
  readonly cancel: () => void
}

/** Opens a modal form. Escape calls `cancel`. Returns a function that closes the dialog. */
export const openDialog = (
  { cancel, submit, title }: Dialog,
  ...children: ReadonlyArray<Child>
): (() => void) => {
  const id = `dialog-${++dialogs}`
  const dialog = h(
    "dialog",
    { class: "card", "aria-labelledby": id },
    h("form", { onsubmit: submit }, h("h2", { id }, title), children),
  )
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault()
    cancel()
  })
  document.body.append(dialog)
  dialog.showModal()
  return () => {
    dialog.close()
    dialog.remove()
  }
}

export interface Confirmation {
  readonly question: string
  readonly consequence: string
}

/** Asks the user to confirm an action that cannot be undone. */
export const confirmAction = ({
  consequence,
  question,
  yes,
}: Confirmation & { readonly yes: string }): Promise<boolean> =>
  new Promise((resolve) => {
    const answer = (isConfirmed: boolean) => {
      close()
      resolve(isConfirmed)
    }
    const close = openDialog(
      {
        title: question,
        submit: (event) => {
          event.preventDefault()
          answer(true)
        },
        cancel: () => answer(false),
      },
      h("p", {}, consequence),
      h(
        "div",
        { class: "row" },
        h("button", { class: "danger" }, yes),
        h(
          "button",
          { type: "button", class: "plain", autofocus: true, onclick: () => answer(false) },
          "Go back",
        ),
      ),
    )
  })
