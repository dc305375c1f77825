import { converse, type Line, type Talk } from "../load/conversation.ts"
import { buildRequest, type RequestParts, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { bareUws } from "../side.ts"
import { canonicalAt, note, webPage } from "../stored/ids.ts"
import { tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"
import { store } from "./lookups.ts"

const uws = bareUws()
const people = 1_000
const ids = 100_000
const freeLength = 5

const any = (count: number): number => (Math.random() * count) | 0
const lookupOf = (n: number, length?: number) => `/emoji_id/${encodeURIComponent(canonicalAt(n, length))}`

/**
 * Of 100 requests, 80 look up a stored id, 8 an unregistered id and 4 the records of one tag. 5 read the account, 1
 * edits a record, and 2 change the cart.
 */
const browse = (target: Target, tokens: readonly string[]) => {
  let edits = 0
  return converse(function* (connection): Talk {
    const me = connection % people
    const own = { Authorization: `Bearer ${tokens[me]}` }
    const line = (parts: RequestParts, status = 200): Line => ({
      request: buildRequest(target, parts),
      status,
    })
    for (;;) {
      for (let n = 0; n < 80; n++) {
        yield line({ path: lookupOf(any(ids)) })
        if (n % 10 === 0) yield line({ path: lookupOf(any(ids), freeLength) }, 404)
        if (n % 20 === 0) yield line({ path: `${lookupOf(any(ids))}?tags=${webPage.tag}` })
        if (n % 16 === 0) yield line({ path: "/account", headers: own })
      }
      const insert = [{ tag: "0x0002", data: `Edit number ${edits++}` }]
      yield line({ method: "PATCH", path: lookupOf(me), headers: own, body: { insert } })
      const items = [{ emoji_id: canonicalAt(any(ids), freeLength) }]
      yield line({ method: "POST", path: "/cart", headers: own, body: { items } })
      yield line({ method: "DELETE", path: "/cart", headers: own })
    }
  })
}

export const mixed: Scenario<readonly string[]> = {
  name: "mixed",
  summary: "typical traffic: mostly lookups, some accounts, few writes",
  onRequest: true,
  subject: service(),
  against: [{ side: uws }],
  prepare: async (server) => {
    await store(server, { ids, owners: people, records: [webPage, note] })
    return tokensOf(server, people)
  },
  requests: (target, tokens) => {
    if (target.side !== uws.name) return browse(target, tokens)
    const request = buildRequest(target, { path: "/emoji_id/k7" })
    return () => request
  },
}
