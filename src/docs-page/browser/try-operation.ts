import { h } from "../../web/browser/elements.ts"
import { labelled } from "./labelled.ts"
import { accessToken } from "./login.ts"

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly value: string
}

interface Filled {
  readonly method: string
  readonly path: string
  readonly token: string | undefined
  readonly body: string | undefined
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The curl command of a request. The token is not shown, because people copy the command. */
const curlOf = ({ body, method, path, token }: Filled): string =>
  [
    `curl -X ${method} ${quoted(location.origin + path)}`,
    ...(token === undefined ? [] : ['-H "Authorization: Bearer $A"']),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quoted(body)}`]),
  ].join(" \\\n  ")

const shown = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Makes the form of an operation. */
const formOf = (place: HTMLElement): HTMLFormElement => {
  const { body, method = "GET", path = "" } = place.dataset
  const parameters = JSON.parse(place.dataset["parameters"] ?? "[]") as ReadonlyArray<Parameter>
  const inputs = parameters.map((parameter) => ({
    parameter,
    input: h("input", { value: parameter.value, required: parameter.required, autocomplete: "off" }),
  }))
  const bodyInput = h(
    "textarea",
    { rows: Math.min(14, (body ?? "").split("\n").length + 1), spellcheck: "false" },
    body ?? "",
  )
  const command = h("pre", { class: "command", tabindex: "0" })
  const output = h("pre", { tabindex: "0", "aria-label": "Response" })
  const status = h("p", { role: "status" })
  const result = h("div", { class: "result", hidden: true }, command, status, output)

  const requestOf = (): Filled => {
    const query = new URLSearchParams()
    let filled = path
    for (const { input, parameter } of inputs) {
      if (parameter.in === "path")
        filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(input.value))
      else if (input.value !== "") query.append(parameter.name, input.value)
    }
    const search = query.size === 0 ? "" : `?${query}`
    return {
      method,
      path: filled + search,
      token: accessToken(),
      body: body === undefined ? undefined : bodyInput.value,
    }
  }
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const request = requestOf()
    command.textContent = curlOf(request)
    result.hidden = false
    status.textContent = "Sending…"
    output.textContent = ""
    const startedAt = performance.now()
    try {
      const response = await fetch(request.path, {
        method,
        redirect: "manual",
        headers: {
          ...(request.token === undefined ? {} : { Authorization: `Bearer ${request.token}` }),
          ...(request.body === undefined ? {} : { "Content-Type": "application/json" }),
        },
        ...(request.body === undefined ? {} : { body: request.body }),
      })
      const text = await response.text()
      const ms = Math.round(performance.now() - startedAt)
      status.textContent =
        response.type === "opaqueredirect" ? `Redirect, ${ms} ms` : `Status ${response.status}, ${ms} ms`
      const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`)
      output.textContent = [...headers, "", shown(text)].join("\n")
    } catch (error) {
      status.textContent = `No response: ${error instanceof Error ? error.message : String(error)}`
    }
  }
  return h(
    "form",
    { onsubmit: send },
    ...inputs.map(({ input, parameter }) =>
      labelled(parameter.required ? parameter.name : `${parameter.name} (optional)`, input),
    ),
    ...(body === undefined ? [] : [labelled("Body", bodyInput)]),
    h("p", {}, h("button", {}, `Send ${method}`)),
    result,
  )
}

/** Adds a form to each operation. It is made when it is opened. */
export const addForms = (): void => {
  for (const place of document.querySelectorAll<HTMLElement>(".try")) {
    const box = h("details", {}, h("summary", {}, "Try it"))
    box.addEventListener("toggle", () => {
      if (box.open && box.childElementCount === 1) box.append(formOf(place))
    })
    place.append(box)
  }
}
