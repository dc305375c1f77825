import { h } from "./dom.js"

let dialogs = 0

/**
 * Opens a modal form. Escape calls `cancel`.
 * @param {{title: string, submit: (event: SubmitEvent) => unknown, cancel: () => void}} how
 * @param {...import("./dom.js").Child} children
 * @returns {() => void} closes the dialog
 */
export const openDialog = ({ cancel, submit, title }, ...children) => {
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

/**
 * Asks the user to confirm an action that cannot be undone.
 * @param {{question: string, consequence: string, yes: string}} what
 * @returns {Promise<boolean>}
 */
export const confirmAction = ({ consequence, question, yes }) =>
  new Promise((resolve) => {
    const answer = (isConfirmed) => {
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
        h("button", {}, yes),
        h(
          "button",
          { type: "button", class: "plain", autofocus: true, onclick: () => answer(false) },
          "Go back",
        ),
      ),
    )
  })
