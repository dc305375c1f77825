import type { openApi } from "../http/openapi.ts"
import { type Html, html } from "./html.ts"
import { page } from "./page.ts"

type Document = ReturnType<typeof openApi>

interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly security: ReadonlyArray<Record<string, ReadonlyArray<string>>>
  readonly parameters: ReadonlyArray<{
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: unknown
  }>
  readonly requestBody?: { readonly content: Record<string, { readonly schema: unknown }> }
  readonly responses: Record<
    string,
    { readonly description: string; readonly content: Record<string, { schema: unknown }> }
  >
}

const pretty = (schema: unknown) => html`<pre><code>${JSON.stringify(schema, null, 2)}</code></pre>`

const access = ({ security }: Operation): string => {
  const [first] = security
  if (first === undefined) return "public"
  const scopes = [...new Set(security.flatMap((one) => Object.values(one).flat()))]
  const schemes = security.map((one) => Object.keys(one)[0] ?? "anonymous").join(" or ")
  return scopes.length === 0 ? schemes : `${schemes}, scope ${scopes.join(", ")}`
}

const operationView = (method: string, path: string, operation: Operation): Html => html`
<details id="${operation.operationId}">
  <summary><span class="method">${method.toUpperCase()}</span> <code>${path}</code> <span class="soft">${operation.summary}</span></summary>
  <p class="soft">Access: ${access(operation)}</p>
  ${
    operation.parameters.length > 0 &&
    html`<table><thead><tr><th>parameter</th><th>in</th><th>required</th></tr></thead><tbody>
    ${operation.parameters.map((p) => html`<tr><td><code>${p.name}</code></td><td>${p.in}</td><td>${p.required ? "yes" : "no"}</td></tr>`)}
    </tbody></table>`
  }
  ${operation.requestBody && html`<p>Body</p>${pretty(Object.values(operation.requestBody.content)[0]?.schema)}`}
  ${Object.entries(operation.responses).map(
    ([status, response]) =>
      html`<p><strong>${status}</strong> ${response.description}</p>${Number(status) < 300 && pretty(Object.values(response.content)[0]?.schema)}`,
  )}
</details>`

/** The reference, made from the same document that machines read. It needs no script. */
export const docsPage = (document: Document) => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: operation as Operation,
    })),
  )
  const groups = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))]
  return page({
    title: "Emoji Id Directory: API reference",
    wide: true,
    cacheable: true,
    body: html`
<h1>API reference</h1>
<p class="soft">Version ${document.info.version}. The same as <a href="/openapi.json">OpenAPI 3.1</a>; live updates are described by <a href="/asyncapi.json">AsyncAPI</a>.</p>
<nav aria-label="Groups"><ul>${groups.map((group) => html`<li><a href="#group-${group}">${group}</a></li>`)}</ul></nav>
<main>
${groups.map(
  (group) => html`<section><h2 id="group-${group}">${group}</h2>
${operations.filter(({ operation }) => operation.tags[0] === group).map(({ method, operation, path }) => operationView(method, path, operation))}</section>`,
)}
<section><h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => html`<details id="schema-${name}"><summary><code>${name}</code></summary>${pretty(schema)}</details>`)}
</section>
</main>`,
  })
}
