import { explain, Problem } from "../platform/http.js"
import { confirmAction } from "./dialog.js"
import { fill, h } from "./dom.js"
import { notify } from "./notices.js"

/**
 * Disables the button while the task runs, so that the user cannot start it twice. If the button had the focus, it
 * gets the focus back, unless another element has the focus by then.
 */
const whileDisabled = async (button, task) => {
  const hadFocus = document.activeElement === button
  button.disabled = true
  try {
    await task()
  } finally {
    button.disabled = false
    if (hadFocus && document.activeElement === document.body) button.focus()
  }
}

const makeButton = (label, action, properties, confirm) => {
  const button = h(
    "button",
    {
      type: "button",
      ...properties,
      onclick: async () => {
        if (!(await confirm())) return
        try {
          await whileDisabled(button, action)
        } catch (error) {
          notify(explain(error), "bad")
        }
      },
    },
    label,
  )
  return button
}

/**
 * A button that runs an action and shows a notice if the action fails.
 * @param {string} label @param {() => Promise<unknown>} action @param {Record<string, unknown>} [properties]
 */
export const actionButton = (label, action, properties = {}) =>
  makeButton(label, action, properties, () => true)

/**
 * A button for an action that cannot be undone. It asks for confirmation first.
 * @param {string} label @param {{question: string, consequence: string}} texts @param {() => Promise<unknown>} action
 * @param {Record<string, unknown>} [properties]
 */
export const confirmButton = (label, texts, action, properties = {}) =>
  makeButton(label, action, { class: "plain", ...properties }, () => confirmAction({ ...texts, yes: label }))

/**
 * Adds the error message to the description of an invalid field, so that screen readers announce it. Removes it from
 * a valid field.
 * @param {HTMLElement} input @param {string} problemId @param {boolean} isWrong
 */
const describe = (input, problemId, isWrong) => {
  const others = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== problemId)
  const ids = [...others, isWrong ? problemId : ""].filter((id) => id !== "")
  if (ids.length > 0) input.setAttribute("aria-describedby", ids.join(" "))
  else input.removeAttribute("aria-describedby")
}

/**
 * Marks the fields that the error names, and moves the focus to the first one. If the form has only one field, every
 * rejection by the service concerns that field.
 * @param {HTMLFormElement} form @param {unknown} error @param {string} problemId
 */
const mark = (form, error, problemId) => {
  const named = error instanceof Problem ? Object.keys(error.fields) : []
  const inputs = [...form.querySelectorAll("input, select, textarea")]
  const isRefused = error instanceof Problem && error.status >= 400 && error.status < 500
  let first
  for (const input of inputs) {
    const isWrong = named.includes(input.name) || (isRefused && inputs.length === 1)
    if (isWrong) {
      input.setAttribute("aria-invalid", "true")
      first ??= input
    } else input.removeAttribute("aria-invalid")
    describe(input, problemId, isWrong)
  }
  first?.focus()
}

let forms = 0

/**
 * A form that passes its values to `submit` and shows the error if `submit` fails.
 * @param {{label: string, submit: (values: Record<string, string>, form: HTMLFormElement) => Promise<unknown>, beside?: import("./dom.js").Child, plain?: boolean, name?: string}} how
 * @param {...import("./dom.js").Child} children
 */
export const actionForm = ({ beside, label, name, plain, submit }, ...children) => {
  const problemId = `problem-${++forms}`
  const problem = h("p", { id: problemId, class: "bad problem", role: "alert" })
  const button = h("button", { class: plain ? "plain" : "" }, label)
  const form = h(
    "form",
    {
      "aria-label": name,
      onsubmit: async (event) => {
        event.preventDefault()
        fill(problem)
        try {
          await whileDisabled(button, () => submit(Object.fromEntries(new FormData(form)), form))
          mark(form, undefined, problemId)
        } catch (error) {
          fill(problem, explain(error))
          mark(form, error, problemId)
        }
      },
    },
    children,
    problem,
    h("div", { class: "row" }, button, beside),
  )
  return form
}
