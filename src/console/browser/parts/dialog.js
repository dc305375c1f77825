import { h } from "./dom.js"

let dialogs = 0

/**
 * A form in front of everything else. Escape does what its own way out does.
 * @param {{title: string, submit: (event: SubmitEvent) => unknown, giveUp: () => void}} how
 * @param {...import("./dom.js").Child} children
 * @returns {() => void} takes it away
 */
export const openDialog = ({ giveUp, submit, title }, ...children) => {
  const id = `dialog-${++dialogs}`
  const dialog = h(
    "dialog",
    { class: "card", "aria-labelledby": id },
    h("form", { onsubmit: submit }, h("h2", { id }, title), children),
  )
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault()
    giveUp()
  })
  document.body.append(dialog)
  dialog.showModal()
  return () => {
    dialog.close()
    dialog.remove()
  }
}

/**
 * Before what cannot be taken back.
 * @param {{question: string, consequence: string, yes: string}} what
 * @returns {Promise<boolean>}
 */
export const askFirst = ({ consequence, question, yes }) =>
  new Promise((resolve) => {
    const answer = (isMeant) => {
      close()
      resolve(isMeant)
    }
    const close = openDialog(
      {
        title: question,
        submit: (event) => {
          event.preventDefault()
          answer(true)
        },
        giveUp: () => answer(false),
      },
      h("p", {}, consequence),
      h(
        "div",
        { class: "row" },
        h("button", {}, yes),
        h(
          "button",
          { type: "button", class: "plain", autofocus: true, onclick: () => answer(false) },
          "Cancel",
        ),
      ),
    )
  })
