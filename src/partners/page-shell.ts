import { createHash } from "node:crypto"
import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import type { OrganizationBranding } from "../../schema/organizations/organization.ts"
import type { Browser } from "../accounts/sessions/browser-cookies.ts"
import type { PartnerOrganization } from "../organizations/organization-store.ts"
import { hiddenToken } from "../sign-in/login-page.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { page } from "../web/page.ts"
import { recordLine } from "../web/record-view.ts"
import type { PartnerFlow } from "./visit-store.ts"
import type { Visit } from "./visits.ts"

export const noStore = { "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" }

/** A person in a partner flow, with everything that the pages need. */
export interface Visitor {
  readonly partner: PartnerOrganization
  /** Whether the partner's return link may get the user's refresh token. */
  readonly linkTakesTokens: boolean
  readonly flow: PartnerFlow
  /** The path of the flow, without query parameters. */
  readonly home: string
  readonly browser: Browser
  readonly visit: Visit
}

const brand = ({ logo, logo_small, name }: OrganizationBranding): Html => {
  const picture = logo_small ?? logo
  return html`<header class="brand">${
    picture === undefined
      ? html`<span class="monogram" aria-hidden="true">${[...name][0]}</span>`
      : html`<img src="${picture}" alt="" height="40">`
  }<span>${name}</span></header>`
}

interface PartnerPage {
  readonly title: string
  readonly body: Content
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

export const partnerPage = (
  { browser, partner }: { readonly partner: OrganizationBranding } & Partial<Pick<Visitor, "browser">>,
  { body, headers, status, title }: PartnerPage,
) =>
  page({
    title: `${title} · ${partner.name}`,
    status: status ?? 200,
    formsLeadOut: true,
    headers: { ...headers, "Set-Cookie": browser?.fresh ?? [] },
    body: html`${brand(partner)}<main>${body}</main>`,
  })

/**
 * Returns a value that identifies the visit to which a form belongs. It is needed because the partner's link may
 * start another visit while a page is open.
 */
export const visitMark = ({ visitToken = "" }: Browser): string =>
  createHash("sha256").update(visitToken).digest("base64url")

/** A form of the flow. The browser sends it to the path of the flow. */
export const flowForm = ({ browser, home }: Visitor, body: Content, className = ""): Html =>
  html`<form method="post" action="${home}" class="${className}">${hiddenToken(browser.formToken)}<input type="hidden" name="visit" value="${visitMark(browser)}">${body}</form>`

export const abortForm = (visitor: Visitor): Html =>
  flowForm(
    visitor,
    html`<button class="quiet" name="action" value="abort">Cancel and go back to ${visitor.partner.name}</button>`,
    "row",
  )

export const addressList = (addresses: ReadonlyArray<DirectoryRecord>, heading: string): Content =>
  addresses.length > 0 &&
  html`<section class="card"><h2 class="first">${heading}</h2>
<ul class="records">${addresses.map((record) => html`<li>${recordLine(record)}</li>`)}</ul></section>`

/**
 * The page for a request of the partner that cannot be processed. It shows the reason and does not redirect to the
 * partner.
 */
export const refusedPage = (partner: OrganizationBranding, what: string, status = 400) =>
  partnerPage(
    { partner },
    {
      title: "This link does not work",
      status,
      body: html`<div class="center"><p class="emoji huge" aria-hidden="true">🧩</p>
<h1>This link does not work</h1>
<p>${what}</p>
<p class="soft">Return to ${partner.name} and try again. Nothing was changed.</p></div>`,
    },
  )

export const donePage = (visitor: Visitor, title: string, body: Content) =>
  partnerPage(visitor, {
    title,
    body: html`<div class="center"><h1>${title}</h1>${body}</div>`,
  })
