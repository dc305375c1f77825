import { emojis } from "../../schema/directory/emoji.ts"
import type { MarketItem } from "../../schema/market/search-result.ts"
import { notice } from "../sign-in/login-page.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { bigId, idButton } from "../web/id-tile.ts"
import { dollars } from "../web/money.ts"
import { abortForm, addressList, guestForm, partnerPage, type Visitor } from "./page-shell.ts"

export interface SearchShown {
  readonly query: string
  readonly result?: MarketItem
  readonly offers: ReadonlyArray<MarketItem>
  readonly failed?: string
  readonly picking: boolean
  readonly inCart: number
  readonly freeLeft: number
  /** An id the person has already, which the partner named. */
  readonly owned?: string
}

const priceOf = ({ price }: MarketItem): string => (price === undefined ? "no price yet" : dollars(price))

const verdicts: Record<MarketItem["availability"], readonly [kind: string, text: string]> = {
  Available: ["good", "You can have it"],
  Taken: ["bad", "It belongs to somebody"],
  InCart: ["warn", "Somebody is buying it right now"],
  ComingSoon: ["warn", "It is not on sale yet"],
  NoPrice: ["warn", "It has no price yet"],
}

const resultCard = (guest: Visitor, item: MarketItem): Html => {
  const [kind, text] = verdicts[item.availability]
  return html`<section class="card center" aria-label="Result">${bigId(item.emoji_id, "huge")}
<p class="${kind}"><strong>${text}</strong>${item.available && html` · ${priceOf(item)}`}</p>
<p class="soft small">Rhythm score ${item.rhythm_score} of 100</p>
${
  item.available &&
  guestForm(
    guest,
    html`<input type="hidden" name="action" value="choose"><button class="full" name="emoji_id" value="${item.emoji_id}">Take it</button>`,
  )
}</section>`
}

/** Emoji one by one, for who has no emoji keyboard. Each is a button that sends what was picked before along. */
const picker = (guest: Visitor, { picking, query }: SearchShown): Html => html`
<details class="picker"${picking && html` open`}><summary>Pick emoji one by one</summary>
<form method="get" action="${guest.home}"><input type="hidden" name="q" value="${query}">
<div class="keys">${emojis.map(({ canonical, name }) => html`<button class="key" name="pick" value="${canonical}" aria-label="${name.replaceAll("_", " ")}">${canonical}</button>`)}</div></form></details>`

const tiles = (guest: Visitor, title: string, items: ReadonlyArray<MarketItem>): Content =>
  items.length > 0 &&
  html`<h2>${title}</h2>${guestForm(
    guest,
    html`<input type="hidden" name="action" value="choose"><div class="tiles">${items.map((item) => idButton("emoji_id", item.emoji_id, priceOf(item)))}</div>`,
  )}`

/** Said also to who has ids already: some were given, and a limit may have been raised. */
const freeWords = (left: number): string =>
  left === 1 ? "One is free for you." : `${left} are free for you.`

export const searchPage = (guest: Visitor, shown: SearchShown) =>
  partnerPage(guest, {
    title: "Get your emoji id",
    status: shown.failed === undefined ? 200 : 422,
    body: html`<h1>Get your emoji id</h1>
<p>One to six emoji that are yours alone. People pay to them instead of to a long address.${shown.freeLeft > 0 && html` <strong class="good">${freeWords(shown.freeLeft)}</strong>`}</p>
${notice(shown.failed)}
${
  shown.owned !== undefined &&
  html`<section class="card center">${bigId(shown.owned, "huge")}<p>This one is yours already.</p>
${guestForm(guest, html`<button class="full" name="action" value="keep">Go on with it</button>`)}</section>`
}
<form method="get" action="${guest.home}" class="search" role="search"><label for="q">Which emoji?</label>
<div class="joined"><input id="q" name="q" class="emoji" value="${shown.query}" autocomplete="off" placeholder="🐙🌊" maxlength="64"><button>Search</button></div></form>
${picker(guest, shown)}
${shown.inCart > 0 && html`<p><a class="button plain full" href="${guest.home}?cart">Your cart has ${shown.inCart} ${shown.inCart === 1 ? "id" : "ids"}</a></p>`}
${shown.result !== undefined && resultCard(guest, shown.result)}
${tiles(guest, shown.result === undefined ? "Some you can have" : "Others you may like", shown.offers)}
${shown.result === undefined && html`<p><a href="${guest.home}">Show others</a></p>`}
${addressList(guest.visit.addresses, "Your id will lead to")}
${abortForm(guest)}`,
  })
