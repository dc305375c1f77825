import { ApiError } from "../../../client/api-error.ts"
import { explain } from "../platform/http.ts"
import { type Confirmation, confirmAction } from "./dialog.ts"
import { type Child, fill, h, type Properties } from "./dom.ts"
import { type IconName, leadingIcon } from "./icon.ts"
import { notify } from "./notices.ts"

type Button = HTMLButtonElement
/** The properties of a button, and the icon before its label. */
type ButtonProperties = Properties<Button> & { readonly sign?: IconName }
type Action = () => unknown

/**
 * Disables the button while the task runs, so that the user cannot start it twice. If the button had the focus, it
 * gets the focus back, unless another element has the focus by then.
 */
const whileDisabled = async (button: Button, task: Action): Promise<void> => {
  const hadFocus = document.activeElement === button
  button.disabled = true
  try {
    await task()
  } finally {
    button.disabled = false
    if (hadFocus && document.activeElement === document.body) button.focus()
  }
}

const makeButton = (
  label: string,
  action: Action,
  { sign, ...properties }: ButtonProperties,
  confirm: () => boolean | Promise<boolean>,
): Button => {
  const button: Button = h(
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
    sign !== undefined && leadingIcon(sign),
    label,
  )
  return button
}

/** A button that runs an action and shows a notice if the action fails. */
export const actionButton = (label: string, action: Action, properties: ButtonProperties = {}): Button =>
  makeButton(label, action, properties, () => true)

/** A button for an action that cannot be undone. It asks for confirmation first, and names what the action changes. */
export const confirmButton = (
  label: string,
  texts: Confirmation,
  action: Action,
  { class: classes = "plain", ...properties }: ButtonProperties = {},
): Button =>
  makeButton(label, action, { ...properties, class: `${classes} danger` }, () =>
    confirmAction({ ...texts, yes: label }),
  )

/**
 * Adds the error message to the description of an invalid field, so that screen readers announce it. Removes it from
 * a valid field.
 */
const describe = (input: Element, problemId: string, isWrong: boolean): void => {
  const others = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id !== problemId)
  const ids = [...others, isWrong ? problemId : ""].filter((id) => id !== "")
  if (ids.length > 0) input.setAttribute("aria-describedby", ids.join(" "))
  else input.removeAttribute("aria-describedby")
}

/**
 * Marks the fields that the error names, and moves the focus to the first one. If the form has only one field, every
 * rejection by the service concerns that field.
 */
const mark = (form: HTMLFormElement, error: unknown, problemId: string): void => {
  const named = error instanceof ApiError ? Object.keys(error.fields) : []
  const inputs = [
    ...form.querySelectorAll<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(
      "input, select, textarea",
    ),
  ]
  const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500
  let first: HTMLElement | undefined
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

/** The values of a form by the names of its fields. A name without a field has the empty text. */
export class Values {
  readonly #data: FormData

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form)
  }

  text(name: string): string {
    const value = this.#data.get(name)
    return typeof value === "string" ? value : ""
  }

  isTicked(name: string): boolean {
    return this.#data.get(name) === "on"
  }

  all(name: string): ReadonlyArray<string> {
    return this.#data.getAll(name).map(String)
  }
}

interface Form {
  readonly label: string
  /** The icon of the button. */
  readonly sign?: IconName
  readonly submit: (values: Values, form: HTMLFormElement) => unknown
  readonly beside?: Child
  readonly plain?: boolean
  readonly name?: string
}

let forms = 0

/** A form that passes its values to `submit` and shows the error if `submit` fails. */
export const actionForm = (
  { beside, label, name, plain, sign, submit }: Form,
  ...children: ReadonlyArray<Child>
): HTMLFormElement => {
  const problemId = `problem-${++forms}`
  const problem = h("p", { id: problemId, class: "bad problem", role: "alert" })
  const button = h("button", { class: plain ? "plain" : "" }, sign !== undefined && leadingIcon(sign), label)
  const form: HTMLFormElement = h(
    "form",
    {
      "aria-label": name,
      onsubmit: async (event) => {
        event.preventDefault()
        fill(problem)
        try {
          await whileDisabled(button, () => submit(new Values(form), form))
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
