import type { Organization } from "../../../client/api-types.ts"
import { empty, fill, h } from "../parts/dom.ts"
import { drawPaged, type Section } from "../parts/subnav.ts"
import { call } from "../platform/api.ts"
import { account } from "../platform/session.ts"
import { drawOrganization } from "./organization.ts"
import { roleWords } from "./organization-members.ts"

const card = ({ id, name }: Organization) => {
  const role = account.value?.organization_roles[id]
  return h(
    "li",
    { class: "card row spread" },
    h(
      "span",
      {},
      h("strong", {}, name),
      h("br"),
      h("span", { class: "soft small" }, role === undefined ? "You are not a member" : roleWords(role)),
    ),
    h(
      "a",
      { class: "button plain", href: `#/account/organizations/${id}`, "aria-label": `Open ${name}` },
      "Open",
    ),
  )
}

const drawList = async (place: HTMLElement): Promise<void> => {
  const list = h("div", {})
  fill(
    place,
    h(
      "p",
      { class: "soft" },
      "An organization is a partner, such as a wallet, with members, emoji ids and promo codes of its own.",
    ),
    list,
  )
  await drawPaged(
    list,
    (cursor) => call("GET /organizations", { query: { limit: 20, ...cursor } }),
    (found) =>
      found.length === 0
        ? empty(
            "🏢",
            "You belong to no organization. To join one, give an owner of it your email address and the account number on your profile.",
            h("a", { class: "button plain", href: "#/account/profile" }, "Open your profile"),
          )
        : h("ul", { class: "plain-list", "aria-label": "Organizations" }, found.map(card)),
  )
}

export const drawOrganizations: Section["draw"] = (place, _, [id]) =>
  id === undefined ? drawList(place) : drawOrganization(place, id)
