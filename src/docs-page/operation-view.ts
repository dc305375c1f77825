import { type Content, type Html, html } from "../web/html.ts"
import { curlLine } from "./curl.ts"
import { type Operation, resolve } from "./document.ts"
import { type Example, readExamples } from "./examples.ts"
import { codeBlock, prose } from "./layout.ts"
import { type ListedOperation, type Reference, shapesOf } from "./reference.ts"
import { membersView, parametersView, shapeView } from "./shapes.ts"

const schemes: Readonly<Record<string, string>> = {
  JWT: "an access token",
  apiKey: "an API key",
  two_factor: "the access token of a sign-in session",
}

const accessOf = ({ security }: Operation): string => {
  if (security.length === 0) return "Public: no sign-in is needed."
  const names = security.map((one) => schemes[Object.keys(one)[0] ?? ""] ?? "no sign-in")
  const scopes = [...new Set(security.flatMap((one) => Object.values(one).flat()))]
  const scope = scopes.length === 0 ? "" : ` with the scope ${scopes.map((name) => `\`${name}\``).join(", ")}`
  return `Needs ${names.join(" or ")}${scope}.`
}

const isKeyed = ({ parameters }: Operation): boolean =>
  parameters.some(({ name }) => name === "Idempotency-Key")

/** Returns the status line, the headers and the body of the example's response. */
const responseText = ({ response, responseHeaders = {}, status, text }: Example): string =>
  [
    `HTTP/1.1 ${status}`,
    ...Object.entries(responseHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(response === undefined && text === undefined ? [] : ["", text ?? JSON.stringify(response, null, 2)]),
  ].join("\n")

export const exampleView = (example: Example): Html =>
  html`<div class="example">${codeBlock(curlLine(example), "Request")}${codeBlock(responseText(example), "Response")}</div>`

const errorsView = (responses: Operation["responses"]): Content => {
  const rows = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  return (
    rows.length > 0 &&
    html`<p class="errors"><strong>Errors</strong> ${rows.map(([status, { content, description }]) => {
      const codes = Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples))
      return html`<span class="error-code">${status} ${codes.length === 0 ? description : codes.map((code) => html`<a href="/docs/errors#${code}">${code}</a> `)}</span> `
    })}</p>`
  )
}

const successView = (responses: Operation["responses"]): Content =>
  Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .map(([status, { content, description, headers = {} }]) => {
      const [[type, { schema }] = ["", { schema: {} }]] = Object.entries(content)
      const form = type === "application/json" ? shapeView(schema) : type === "" ? description : type
      return html`<p><strong>${status}</strong> ${form}</p>${schema.properties !== undefined && membersView(schema)}
${Object.keys(headers).length > 0 && html`<p class="soft small">Headers: ${Object.keys(headers).map((name) => html`<code>${name}</code> `)}</p>`}`
    })

/** Whether the operation is for a browser or for another service, so that a program does not call it. */
const isForPages = ({ requestBody, responses }: Operation): boolean =>
  Object.values(responses).some(({ content }) => "text/html" in content) ||
  (requestBody !== undefined && !("application/json" in requestBody.content))

/** The facts from which the script of the page makes a form that sends the operation. */
const tryData = ({ method, operation, path }: ListedOperation, example: Example): Content => {
  if (isForPages(operation) || example.headers !== undefined) return false
  const template = new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/?]+)")}(?:\\?|$)`)
  const given = { ...template.exec(example.path)?.groups }
  const query = new URLSearchParams(example.path.split("?")[1] ?? "")
  const parameters = operation.parameters
    .filter((parameter) => parameter.in !== "header")
    .map(({ in: place, name, required }) => ({
      ...{ name, in: place, required },
      value: (place === "path" ? given[name] : query.get(name)) ?? "",
    }))
  return html`<div class="try" data-method="${method}" data-path="${path}" data-parameters="${JSON.stringify(parameters)}"${operation.requestBody !== undefined && html` data-body="${JSON.stringify(example.body ?? {}, null, 2)}"`}></div>`
}

export const operationView = (reference: Reference, listed: ListedOperation): Html => {
  const { method, operation, path } = listed
  const example = readExamples().operations[operation.operationId]
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {})
  const parameters = operation.parameters.filter(({ name }) => name !== "Idempotency-Key")
  return html`<section class="operation" id="${operation.operationId}" aria-labelledby="${operation.operationId}-title">
<h2 id="${operation.operationId}-title">${prose(operation.summary)}</h2>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${operation.description && html`<p>${prose(operation.description)}</p>`}
<p class="soft small">${prose(accessOf(operation))}${isKeyed(operation) && html` Accepts an <a href="/docs#idempotency">Idempotency-Key</a>.`}</p>
${example && exampleView(example)}
${example && tryData(listed, example)}
<details class="members"><summary>Parameters, body and response</summary>
${parametersView(parameters)}
${content && html`<p><strong>Body</strong>${type !== "application/json" && `, ${type}`}: ${shapeView(content.schema)}</p>${membersView(resolve(content.schema, shapesOf(reference)))}`}
${successView(operation.responses)}
</details>
${errorsView(operation.responses)}
</section>`
}
