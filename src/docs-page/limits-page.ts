import { budgets, localBudgets, type Subject } from "../http/limits/budgets.ts"
import type { LimitName } from "../http/route.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { codeBlock } from "./layout.ts"
import { tableView } from "./markdown.ts"
import { type ListedOperation, operationsOf, pageOf, type Reference } from "./reference.ts"

const purposes: Readonly<Record<LimitName, string>> = {
  login: "Logins and other operations that check a password.",
  mail: "Operations that send a mail or a text message.",
  code: "Operations that check a code.",
  write: "Most other writes with a limit, such as edits of records.",
  read: "Reads that take more work than a lookup, such as batches.",
}

const subjects: Readonly<Record<Subject, string>> = {
  address: "per address",
  account: "per account that is tried",
  pair: "per account and address",
  caller: "per user or API key",
}
const isSubject = (name: string): name is Subject => name in subjects

const number = new Intl.NumberFormat("en-US")
const timeOf = (seconds: number): string => (seconds === 60 ? "minute" : `${seconds / 60} minutes`)

/** Shows the budgets of a limit, such as "300 per minute per address". */
const budgetView = (limit: object): ReadonlyArray<Html> =>
  Object.entries(limit).flatMap(([name, budget]: [string, { requests: number; seconds: number }]) =>
    isSubject(name)
      ? [html`<div>${number.format(budget.requests)} per ${timeOf(budget.seconds)} ${subjects[name]}</div>`]
      : [],
  )

const isLimit = (name: string): name is LimitName => name in purposes
const limitNames = Object.keys(purposes).filter(isLimit)

const exchange = `HTTP/1.1 429 Too Many Requests
RateLimit-Limit: 300
RateLimit-Remaining: 0
RateLimit-Reset: 41
Retry-After: 41
X-Error-Code: too_many_requests`

const headers: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["RateLimit-Limit", "The requests that the budget allows within its time."],
  ["RateLimit-Remaining", "The requests that are left of it."],
  ["RateLimit-Reset", "The seconds until all of them are available again."],
  [
    "Retry-After",
    "The seconds after which the same request can succeed, with 429, 503 and sometimes 409. If a 429 or 503 has none, a retry cannot help.",
  ],
]

export const limitsPage = (reference: Reference): Html => {
  const { byOperation, coldLookupsPerMinute } = reference.limits
  const operations = operationsOf(reference)
  const operationLink = (listed: ListedOperation): Content =>
    html`<a href="${pageOf(listed)}#${listed.operation.operationId}">${listed.operation.summary}</a>`
  const of = (name: LimitName): ReadonlyArray<ListedOperation> =>
    operations.filter(({ operation }) => byOperation[operation.operationId] === name)
  return html`<p>A limit protects the service and its users. Wallets and shops do not notice it: lookups that are answered from memory are never
counted. ${coldLookupsPerMinute === undefined && html`<strong>This service does not limit requests now.</strong> With limits, these are the budgets.`}</p>
<h2 id="headers">Headers</h2>
<p>Every response of an operation with a limit has the state of its budget. If several budgets count a request, the headers show the one with
the fewest requests left. A request over the limit gets 429 with the code <a href="/docs/errors#too_many_requests"><code>too_many_requests</code></a>.</p>
${codeBlock(exchange)}
${tableView(
  ["header", "meaning"],
  headers.map(([name, meaning]) => [html`<code>${name}</code>`, meaning]),
)}
<p>Wait for <code>Retry-After</code> seconds and a random time of up to a second, then send the request again, a write with the same
<a href="/docs#idempotency">Idempotency-Key</a>. The <a href="/docs/client">client</a> does this by itself for up to 30 seconds.</p>
<h2 id="budgets">Budgets</h2>
<p>An address is an IPv4 address or an IPv6 /64 network. With a login or an API key, a request also counts for its user or key.</p>
${tableView(
  ["limit", "budget", "for"],
  limitNames.map((name) => [
    html`<a href="#limit-${name}"><code>${name}</code></a>`,
    budgetView(budgets[name]),
    purposes[name],
  ]),
)}
<h2 id="lookups">Lookups</h2>
<p>The lookups of one id, resolve and payment have no limit while they are answered from memory. A lookup that needs the database, and
<a href="/docs/verification">a proof</a> that must be signed, count:</p>
<ul>${budgetView(localBudgets(coldLookupsPerMinute ?? 6000).lookup).map((budget) => html`<li>${budget}</li>`)}</ul>
<p>An API key has this budget of its own, and so a busy server should send one. Requests for paths that do not exist have a limit as well.
The <a href="/docs/live#limits">live connection</a> has limits of its own.</p>
<h2 id="operations">Operations by limit</h2>
<p>Operations that are not listed have no limit of their own.</p>
${limitNames.map((name) => {
  const listed = of(name)
  return html`<h3 id="limit-${name}"><code>${name}</code></h3>
${listed.length === 0 ? html`<p>None.</p>` : html`<ul>${listed.map((one) => html`<li>${operationLink(one)}</li>`)}</ul>`}`
})}`
}
