import { Reply } from "../http/response/reply.ts"
import { callbackUrl } from "../sign-in/oauth/authorization-request.ts"
import { html } from "../web/html.ts"
import { donePage, noStore, type Visitor } from "./page-shell.ts"
import type { PartnerFlow } from "./visit-store.ts"

/** The names of the flows in return links. The libraries of existing wallets choose their next step by them. */
const actions: Record<PartnerFlow, string> = { get: "create", connect: "connect", manage: "manage" }

/** Adds parameters to the return link of the partner. If the link has an `action` of its own, the action stays. */
export const returnUrl = (
  { flow, partner }: Visitor,
  added: Readonly<Record<string, string | undefined>> = {},
): string => {
  const [, query = ""] = (partner.return_link.split("#", 1)[0] ?? "").split("?", 2)
  const action = new URLSearchParams(query).has("action") ? undefined : actions[flow]
  return callbackUrl(partner.return_link, { action, ...added })
}

/**
 * Redirects to the return link of the partner, with the refresh token that the partner sent if the link may get it.
 * `eids` are the ids that the user bought or chose; the first one is also returned as `eid`. If the partner has no
 * return link, it shows a final page.
 */
export const goBack = (
  visitor: Visitor,
  result: { readonly eids: ReadonlyArray<string> } | { readonly status: "aborted" },
): Reply<never> => {
  const { linkTakesTokens, partner, visit } = visitor
  const isAborted = "status" in result
  if (partner.return_link !== "") {
    const outcome = isAborted
      ? result
      : { eid: result.eids[0], eids: result.eids.length === 0 ? undefined : result.eids.join(",") }
    const refresh_token = linkTakesTokens ? visit.refreshToken : undefined
    return Reply.redirect(returnUrl(visitor, { ...outcome, refresh_token }), noStore)
  }
  const leave = html`<p>You can close this page and return to ${partner.name}.</p>`
  return isAborted
    ? donePage(visitor, "Nothing was changed", leave)
    : donePage(
        visitor,
        "Done",
        html`${result.eids.map((id) => html`<p class="emoji huge">${id}</p>`)}${leave}`,
      )
}
