import type { DirectoryRecord } from "../../schema/directory/records/record.ts"
import { describedByNotice, notice } from "../sign-in/login-page.ts"
import { html } from "../web/html.ts"
import { bigId, idButton, spokenName } from "../web/id-tile.ts"
import { categoryChoices, categoryName, recordLine } from "../web/record-view.ts"
import { flowForm, partnerPage, type Visitor } from "./page-shell.ts"
import { returnUrl } from "./return.ts"

const backLink = (visitor: Visitor) =>
  visitor.partner.return_link !== "" &&
  html`<p><a class="button plain full" href="${returnUrl(visitor)}">Back to ${visitor.partner.name}</a></p>`

export const ownedPage = (visitor: Visitor, ids: ReadonlyArray<string>) =>
  partnerPage(visitor, {
    title: "Your emoji ids",
    body: html`<h1>Your emoji ids</h1>
${
  ids.length === 0
    ? html`<div class="card center"><p class="emoji huge" aria-hidden="true">🌱</p><p>You have no emoji id yet.</p></div>`
    : html`<form method="get" action="${visitor.home}"><div class="tiles">${ids.map((id) => idButton("id", id, spokenName(id)))}</div></form>`
}
${backLink(visitor)}`,
  })

export interface RecordsShown {
  readonly id: string
  readonly count: number
  readonly records: ReadonlyArray<DirectoryRecord>
  /** The addresses that the partner sent and that the id does not have yet. */
  readonly offered: ReadonlyArray<DirectoryRecord>
  readonly failed?: string
  readonly saved?: boolean
  readonly typed?: { readonly tag: string; readonly data: string }
}

export const recordsPage = (visitor: Visitor, shown: RecordsShown) => {
  const hiddenId = html`<input type="hidden" name="emoji_id" value="${shown.id}">`
  return partnerPage(visitor, {
    title: `${shown.id}`,
    status: shown.failed === undefined ? 200 : 422,
    body: html`<div class="center">${bigId(shown.id, "huge")}<h1>${spokenName(shown.id)}</h1></div>
${notice(shown.failed)}${shown.saved && notice("Saved. The change is public.", "good")}
<section class="card"><h2 class="first">Records</h2>
${
  shown.records.length === 0
    ? html`<p class="soft">No records yet.</p>`
    : html`<ul class="records">${shown.records.map(
        (record) =>
          html`<li>${recordLine(record)}${flowForm(visitor, html`${hiddenId}<input type="hidden" name="hash" value="${record.hash}"><button class="link" name="action" value="delete" aria-label="Remove ${categoryName(record.tag)} ${record.data}">Remove</button>`)}</li>`,
      )}</ul>`
}</section>
${
  shown.offered.length > 0 &&
  html`<section class="card"><h2 class="first">Addresses from ${visitor.partner.name}</h2>
<ul class="records">${shown.offered.map((record) => html`<li>${recordLine(record)}</li>`)}</ul>
${flowForm(visitor, html`${hiddenId}<button class="full" name="action" value="given">Add these addresses</button>`)}</section>`
}
${flowForm(
  visitor,
  html`<h2 class="first">Add a record</h2>${hiddenId}
<label for="tag">Type</label><select id="tag" name="tag">${categoryChoices(visitor.partner.currencies).map(
    ([tag, name]) =>
      html`<option value="${tag}"${tag === shown.typed?.tag && html` selected`}>${name}</option>`,
  )}</select>
<label for="data">Address or text</label><input id="data" name="data" maxlength="4096" required autocomplete="off" spellcheck="false" value="${shown.typed?.data}"${shown.typed !== undefined && describedByNotice(shown.failed)}>
<p class="soft small">For another coin, enter TICKER|ADDRESS. A new address replaces the existing address of the same type.</p>
<button class="full" name="action" value="add">Save</button>`,
  "card",
)}
${shown.count > 1 && html`<p><a href="${visitor.home}?all">Your other emoji ids</a></p>`}
${backLink(visitor)}`,
  })
}
