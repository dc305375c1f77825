import { type Html, html } from "../web/html.ts"
import { type Example, readExamples } from "./examples.ts"
import { prose } from "./layout.ts"
import { exampleView } from "./operation-view.ts"
import { type ListedOperation, operationsOf, pageOf, type Reference } from "./reference.ts"

/** What a client does after an error, by its code; otherwise by its status. */
const advice: Readonly<Record<string, string>> = {
  invalid_request: "Correct the request. The message names the parameter or the member.",
  unsupported_emoji: "Ask the user for another id. The message names the character.",
  unknown_asset: "Send a ticker such as BTC or USDC.",
  unknown_network: "Choose one of the networks that the message lists.",
  network_required: "Send one of the networks that the message lists.",
  no_address:
    "Tell the user that this id cannot receive this asset. Do not use an address of another network.",
  unauthorized: "Renew the access token with the refresh token, or sign in again.",
  forbidden: "Use other credentials. The body names the scope if one is missing.",
  not_found: "The resource does not exist, or it is not yours. Do not retry.",
  method_not_allowed: "Use one of the methods in the message.",
  refused_by_state: "Read the resource again. The body has its state and what the state allows.",
  conflict:
    "Read the resource again. If the response has Retry-After, the first request with the same Idempotency-Key still runs.",
  body_too_large: "Send less.",
  unprocessable: "Show the messages of `fields` next to the fields. Each has a code for programs.",
  two_factor_required: "Ask the user for a code, send it to POST /auth/2fa, and repeat the request.",
  upgrade_required: "Connect with a WebSocket.",
  too_many_requests: "Wait for Retry-After seconds. Without this header, a retry cannot help.",
  unavailable: "Wait for Retry-After seconds, then retry. Without this header, a retry cannot help.",
}

const byStatus = ([, a]: [string, Example], [, b]: [string, Example]): number => a.status - b.status

/** Whether the errors of the operation have only the member `error`. */
const hasShortErrors = ({ operation }: ListedOperation): boolean =>
  operation.responses["default"]?.content["application/json"]?.schema.$ref?.endsWith("/LookupProblem") ===
  true

export const errorsPage = (reference: Reference): Html => {
  const kinds: Readonly<Record<string, { readonly summary: string }>> = reference.openApi.components.examples
  const short = operationsOf(reference).filter(hasShortErrors)
  const errors = Object.entries(readExamples().errors).toSorted(byStatus)
  const summaryOf = (code: string): string => kinds[code]?.summary ?? ""
  return html`<p>An error has the matching status and the body <code>{"error", "code", "request_id"}</code>. <code>error</code> is a sentence for
developers, <code>code</code> is for programs, and <code>fields</code> names the invalid parameters and members of a 400 or 422. Every error has the code in the header <code>X-Error-Code</code> too, and the header <code>X-Request-Id</code>: keep it for questions to
the operator.</p>
<p>Two groups have another body. These lookups answer <code>{"error"}</code> only; their code is in the header:</p>
<ul>${short.map((listed) => html`<li><a href="${pageOf(listed)}#${listed.operation.operationId}">${listed.method} ${listed.path}</a></li>`)}</ul>
<p>The OAuth token endpoint answers <code>{"error", "error_description"}</code>. All other operations, also
<a href="/docs/lookup#resolveEmojiID">resolve</a>, have the usual body. In a batch, each item has its own error,
<code>{"code", "reason"}</code>, and the response is 200.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><thead><tr><th>status</th><th>code</th><th>meaning</th><th>what to do</th></tr></thead><tbody>
${errors.map(([code, { status }]) => html`<tr><td>${status}</td><td><a href="#${code}"><code>${code}</code></a></td><td>${summaryOf(code)}</td><td>${prose(advice[code] ?? "")}</td></tr>`)}
<tr><td>500</td><td><code>internal</code></td><td>An unexpected error. The operator finds it in the log by the request id.</td><td>Retry with backoff, a write with its Idempotency-Key.</td></tr>
</tbody></table></div>
${errors.map(
  ([
    code,
    example,
  ]) => html`<section class="operation" id="${code}" aria-labelledby="${code}-title"><h2 id="${code}-title"><code>${code}</code></h2>
<p>${example.status}. ${summaryOf(code)}</p><p class="soft">${prose(advice[code] ?? "")}</p>${exampleView(example)}</section>`,
)}`
}
