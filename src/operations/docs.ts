import type { openApi } from "../http/openapi.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { type Operation, resolve, type Shapes } from "./docs-document.ts"
import { curlLine } from "./docs-example.ts"
import { membersView, parametersView, shapeView } from "./docs-shapes.ts"

type Document = ReturnType<typeof openApi>

const access = ({ security }: Operation): string => {
  const [first] = security
  if (first === undefined) return "public"
  const scopes = [...new Set(security.flatMap((one) => Object.values(one).flat()))]
  const schemes = security.map((one) => Object.keys(one)[0] ?? "anonymous").join(" or ")
  return scopes.length === 0 ? schemes : `${schemes}, scope ${scopes.join(", ")}`
}

const shellStart = (url: string): string =>
  [
    `B=${url}`,
    'A=$(curl -s $B/auth/token -H "Content-Type: application/json" -d \'{"email":"…","password":"…"}\' \\',
    "  | node -pe 'JSON.parse(require(\"fs\").readFileSync(0)).access_token')",
  ].join("\n")

/** Formats text in backticks as code. */
const prose = (text: string): Content =>
  text.split("`").map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))

const answerView = ([status, { content, description }]: [string, Operation["responses"][string]]): Html => {
  const [[type, { schema }] = ["", { schema: {} }]] = Object.entries(content)
  return Number(status) < 300
    ? html`<p><strong>${status}</strong> ${type === "application/json" ? shapeView(schema) : type}</p>${schema.properties !== undefined && membersView(schema)}`
    : html`<p><strong>${status}</strong> ${description}</p>`
}

/** Whether the operation returns an HTML page. Pages are used in a browser, so they have no curl example. */
const isPage = ({ responses }: Operation): boolean =>
  Object.values(responses).some(({ content }) => "text/html" in content)

const operationView = (method: string, path: string, operation: Operation, shapes: Shapes): Html => {
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {})
  return html`
<details id="${operation.operationId}">
  <summary><span class="method">${method.toUpperCase()}</span> <code>${path}</code> <span class="soft">${prose(operation.summary)}</span></summary>
  <p class="soft">Access: ${access(operation)}</p>
  ${!isPage(operation) && html`<pre><code>${curlLine(method, path, operation, shapes)}</code></pre>`}
  ${parametersView(operation.parameters)}
  ${content && html`<p>Body${type !== "application/json" && `, ${type}`}: ${shapeView(content.schema)}</p>${membersView(resolve(content.schema, shapes))}`}
  ${Object.entries(operation.responses).map(answerView)}
</details>`
}

/** Renders the API reference from the OpenAPI document. The page needs no script. */
export const docsPage = (document: Document) => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: operation as Operation,
    })),
  )
  const shapes = document.components.schemas as Shapes
  const groups = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))]
  return page({
    title: "Emoji Id Directory: API reference",
    wide: true,
    cacheable: true,
    body: html`<main>
<h1>API reference</h1>
<p class="soft">Version ${document.info.version}. Machine-readable: <a href="/openapi.json">OpenAPI 3.1</a>, and <a href="/asyncapi.json">AsyncAPI</a> for live updates.</p>
<p>Every operation has a curl example. The examples use two shell variables, the base URL and an access token:</p>
<pre><code>${shellStart(document.servers[0]?.url ?? "")}</code></pre>
<nav aria-label="Groups"><ul>${groups.map((group) => html`<li><a href="#group-${group}">${group}</a></li>`)}<li><a href="#schemas">schemas</a></li></ul></nav>
${groups.map(
  (group) => html`<section><h2 id="group-${group}">${group}</h2>
${operations.filter(({ operation }) => operation.tags[0] === group).map(({ method, operation, path }) => operationView(method, path, operation, shapes))}</section>`,
)}
<section><h2 id="schemas">Schemas</h2>
${Object.entries(shapes).map(([name, shape]) => html`<details><summary><code>${name}</code></summary><div id="schema-${name}">${membersView(shape)}</div></details>`)}
</section>
</main>`,
  })
}
