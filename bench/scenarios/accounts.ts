import { auditedEdits } from "../consistency/edits.ts"
import { buildRequest } from "../load/request.ts"
import { sendAll } from "../load/send-all.ts"
import type { RequestScenario, Scenario } from "../scenario.ts"
import { bareUws, singleStatementWrites } from "../side.ts"
import { canonicalAt } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { emailAt, password, storePeople, tokensOf } from "../stored/people.ts"
import { service } from "../subject.ts"
import { store } from "./lookups.ts"

const uws = bareUws()
const people = 1_000

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

export const authenticatedRead: Scenario<readonly string[]> = {
  name: "authenticated-read",
  fromMemory: true,
  summary: "GET /account by any of 1,000 users",
  subject: service(),
  against: [{ side: uws, aims: [{ metric: "rate", atLeast: 0.3 }] }],
  prepare: async (server) => {
    await openStored(server, (sql) => storePeople(sql, people))
    const tokens = await tokensOf(server, people)
    const requests = tokens.map((token) =>
      buildRequest(server.target, { path: "/account", headers: bearer(token) }),
    )
    await sendAll(server.target, people, (n) => requests[n]!)
    return tokens
  },
  requests: (target, tokens) => {
    const requests =
      target.side === uws.name
        ? [buildRequest(target, { path: "/emoji_id/k7" })]
        : tokens.map((token) => buildRequest(target, { path: "/account", headers: bearer(token) }))
    return () => requests[(Math.random() * requests.length) | 0]!
  },
  check: (answer) => answer.body.length > 0,
}

export const recordEdit: RequestScenario<readonly string[]> = {
  name: "record-edit",
  summary: "PATCH /emoji_id/{id}: one record replaced, each connection on a different id",
  subject: service(),
  against: [{ side: singleStatementWrites() }],
  prepare: async (server) => {
    await store(server, { ids: people, owners: people })
    return tokensOf(server, people)
  },
  requests: (target, tokens) => {
    const path = (owner: number) => `/emoji_id/${encodeURIComponent(canonicalAt(owner))}`
    return auditedEdits({
      owners: people,
      edit: (owner, text) =>
        buildRequest(target, {
          method: "PATCH",
          path: path(owner),
          headers: bearer(tokens[owner]!),
          body: { insert: [{ tag: "0x0002", data: text }] },
        }),
      lookup: (owner) => buildRequest(target, { path: path(owner) }),
    })
  },
}

export const logins: Scenario = {
  name: "logins",
  summary: "POST /auth/token with a password: limited by argon2, as intended",
  onRequest: true,
  connections: 8,
  subject: service(),
  against: [],
  prepare: (server) => openStored(server, (sql) => storePeople(sql, people)),
  requests: (target) => {
    const requests = Array.from({ length: people }, (_, n) =>
      buildRequest(target, {
        method: "POST",
        path: "/auth/token",
        body: { email: emailAt(n), password },
      }),
    )
    return () => requests[(Math.random() * people) | 0]!
  },
}
