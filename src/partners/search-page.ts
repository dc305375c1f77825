import { emojis } from "../../schema/directory/emoji.ts"
import type { MarketItem } from "../../schema/market/search-result.ts"
import { notice } from "../sign-in/login-page.ts"
import { type Content, type Html, html } from "../web/html.ts"
import { bigId, idButton } from "../web/id-tile.ts"
import { dollars } from "../web/money.ts"
import { abortForm, addressList, flowForm, partnerPage, type Visitor } from "./page-shell.ts"

export interface SearchShown {
  readonly query: string
  readonly result?: MarketItem
  readonly offers: ReadonlyArray<MarketItem>
  readonly failed?: string
  readonly picking: boolean
  readonly inCart: number
  readonly freeLeft: number
  /** The id that the partner sent, if the user owns it. */
  readonly owned?: string
}

const priceOf = ({ price }: MarketItem): string => (price === undefined ? "no price yet" : dollars(price))

const verdicts: Record<MarketItem["availability"], readonly [kind: string, text: string]> = {
  Available: ["good", "Available"],
  Taken: ["bad", "Not available: it is already registered"],
  InCart: ["warn", "Another customer is buying it"],
  ComingSoon: ["warn", "Not on sale yet"],
  NoPrice: ["warn", "No price yet"],
}

const resultCard = (visitor: Visitor, item: MarketItem): Html => {
  const [kind, text] = verdicts[item.availability]
  return html`<section class="card center" aria-label="Result">${bigId(item.emoji_id, "huge")}
<p class="${kind}"><strong>${text}</strong>${item.available && html` · ${priceOf(item)}`}</p>
<p class="soft small">Rhythm score ${item.rhythm_score} of 100</p>
${
  item.available &&
  flowForm(
    visitor,
    html`<input type="hidden" name="action" value="choose"><button class="full" name="emoji_id" value="${item.emoji_id}">Add to cart</button>`,
  )
}</section>`
}

/** A keyboard of emoji buttons. Each button sends its emoji together with the emoji that were picked before. */
const picker = (visitor: Visitor, { picking, query }: SearchShown): Html => html`
<details class="picker"${picking && html` open`}><summary>Pick emoji one by one</summary>
<form method="get" action="${visitor.home}"><input type="hidden" name="q" value="${query}">
<div class="keys">${emojis.map(({ canonical, name }) => html`<button class="key" name="pick" value="${canonical}" aria-label="${name.replaceAll("_", " ")}">${canonical}</button>`)}</div></form></details>`

const tiles = (visitor: Visitor, title: string, items: ReadonlyArray<MarketItem>): Content =>
  items.length > 0 &&
  html`<h2>${title}</h2>${flowForm(
    visitor,
    html`<input type="hidden" name="action" value="choose"><div class="tiles">${items.map((item) => idButton("emoji_id", item.emoji_id, priceOf(item)))}</div>`,
  )}`

/**
 * The text about the remaining free ids. Users who own ids see it too, because ids that they received do not count,
 * and the limit may have been raised.
 */
const freeText = (left: number): string =>
  left === 1 ? "You can get one emoji id for free." : `You can get ${left} emoji ids for free.`

export const searchPage = (visitor: Visitor, shown: SearchShown) =>
  partnerPage(visitor, {
    title: "Get your emoji id",
    status: shown.failed === undefined ? 200 : 422,
    body: html`<h1>Get your emoji id</h1>
<p>An emoji id is one to six emoji that only you own. Others can send payments to it instead of to a long address.${shown.freeLeft > 0 && html` <strong class="good">${freeText(shown.freeLeft)}</strong>`}</p>
${notice(shown.failed)}
${
  shown.owned !== undefined &&
  html`<section class="card center">${bigId(shown.owned, "huge")}<p>You already own this emoji id.</p>
${flowForm(visitor, html`<button class="full" name="action" value="keep">Continue with this emoji id</button>`)}</section>`
}
<form method="get" action="${visitor.home}" class="search" role="search"><label for="q">Search for an emoji id</label>
<div class="joined"><input id="q" name="q" class="emoji" value="${shown.query}" autocomplete="off" placeholder="🐙🌊" maxlength="64"><button>Search</button></div></form>
${picker(visitor, shown)}
${shown.inCart > 0 && html`<p><a class="button plain full" href="${visitor.home}?cart">Your cart has ${shown.inCart} ${shown.inCart === 1 ? "id" : "ids"}</a></p>`}
${shown.result !== undefined && resultCard(visitor, shown.result)}
${tiles(visitor, shown.result === undefined ? "Available emoji ids" : "Similar emoji ids", shown.offers)}
${shown.result === undefined && html`<p><a href="${visitor.home}">Show other emoji ids</a></p>`}
${addressList(visitor.visit.addresses, "Addresses to add to your emoji id")}
${abortForm(visitor)}`,
  })
