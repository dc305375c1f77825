import { buildRequest, type RequestParts, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { gets, pick, store } from "../scenarios/lookups.ts"
import { canonicalAt, note, webPage } from "../stored/ids.ts"
import { tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"

const people = 1_000
const freeLength = 5
/** A cart is cleared after this many items. */
const itemsPerCart = 4

const write = (target: Target, tokens: readonly string[], connection: number, turn: number): Buffer => {
  const me = (connection >> 1) % people
  const send = (parts: RequestParts) =>
    buildRequest(target, { ...parts, headers: { Authorization: `Bearer ${tokens[me]}` } })
  if (connection % 2 === 0) {
    const insert = [{ tag: "0x0002", data: `Edit ${turn} of connection ${connection}` }]
    const path = `/emoji_id/${encodeURIComponent(canonicalAt(me))}`
    return send({ method: "PATCH", path, body: { insert } })
  }
  if (turn % itemsPerCart === 0) return send({ method: "DELETE", path: "/cart" })
  const items = [{ emoji_id: canonicalAt(me * itemsPerCart + (turn % itemsPerCart), freeLength) }]
  return send({ method: "POST", path: "/cart", body: { items } })
}

/** Half of the connections edit the records of an id, the other half change a cart. */
export const overloadWrites: Scenario<readonly string[]> = {
  name: "overload-writes",
  summary: "edits of records and carts",
  subject: service(),
  against: [],
  prepare: async (server) => {
    await store(server, { ids: people, owners: people, records: [webPage, note] })
    return tokensOf(server, people)
  },
  // 422: the id is in the cart already. It costs as much.
  statuses: [200, 422],
  requests: (target, tokens) => {
    const turns: number[] = []
    return (connection) => {
      const turn = turns[connection] ?? 0
      turns[connection] = turn + 1
      return write(target, tokens, connection, turn)
    }
  },
}

/** Lookups of the ids that are edited, so some of them are not in the cache. */
export const overloadLookups: Scenario = {
  name: "overload-lookups",
  summary: "lookups of the edited ids",
  subject: service(),
  against: [],
  requests: (target) => pick(gets(target, people)),
}
