import { isUseful, scopeTexts } from "../../../../schema/accounts/scope-text.ts"
import type { Scope } from "../../../client/api-types.ts"
import { actionButton } from "../parts/actions.ts"
import { h } from "../parts/dom.ts"

const groups: ReadonlyArray<readonly [label: string, prefix: RegExp]> = [
  ["Emoji ids and transfers", /^(emoji:|userEmoji|userData|userInterest|nftSignature)/],
  ["Cart, orders and payment", /^(cart|order:readSelf|paymentMethod|lootbox)/],
  ["Account and keys", /^(user:(writeSelf|deleteSelf|createApiKey)|userPubkeys|organizationList)/],
  ["Administration", /./],
]

const scopeTick = (scope: Scope) =>
  h(
    "label",
    { class: "tick scope" },
    h("input", { type: "checkbox", name: "scope", value: scope }),
    h("span", {}, scopeTexts[scope], " ", h("code", { class: "soft small" }, scope)),
  )

const groupFields = (label: string, scopes: ReadonlyArray<Scope>) => {
  const box: HTMLFieldSetElement = h(
    "fieldset",
    { class: "scopes" },
    h("legend", {}, label),
    actionButton(
      "Select all",
      () => {
        for (const input of box.querySelectorAll("input")) input.checked = true
      },
      { class: "plain small", "aria-label": `Select all: ${label}` },
    ),
    scopes.map(scopeTick),
  )
  return box
}

/** The permissions of a new key, in words and in groups. */
export const scopeChoice = (scopes: ReadonlyArray<Scope>) => {
  const useful = scopes.filter(isUseful)
  const groupOf = (scope: Scope) => groups.find(([, prefix]) => prefix.test(scope))?.[0]
  return h(
    "div",
    {},
    h("h3", {}, "What this key can do"),
    h("p", { class: "soft small" }, "Choose as little as possible. Every key can look up ids."),
    groups.map(([label]) => {
      const members = useful.filter((scope) => groupOf(scope) === label)
      return members.length > 0 && groupFields(label, members)
    }),
  )
}

/** What a key can do, as a list that opens. */
export const scopeList = (scopes: ReadonlyArray<Scope>) =>
  scopes.length > 0 &&
  h(
    "details",
    { class: "small" },
    h("summary", {}, "What it can do"),
    h(
      "ul",
      {},
      scopes.map((scope) => h("li", {}, scopeTexts[scope])),
    ),
  )
