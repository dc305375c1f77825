import type { FanOutPlan } from "../crowd/fan-out.ts"
import type { RequestSource } from "../load/http-lane.ts"
import { buildRequest, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { buy } from "../scenarios/carts.ts"
import { pick } from "../scenarios/lookups.ts"
import { canonicalAt } from "../stored/ids.ts"
import { service } from "../subject.ts"
import { bearer, type DirectoryData, idPath, type Person, storedIds } from "./directory-data.ts"
import { transferIds } from "./transfer.ts"

const idsPerRun = 1_000_000
const searches = 10_000
const searchedFrom = 1_000_000
const channels = 32
const sockets = 1_600

/** The scenarios of `--against` compare two builds of the service, so they have no opponents. */
const common = { subject: service(), against: [] }
const isAnswer = (answer: { readonly body: Buffer }): boolean => answer.body.length > 0

/** Returns a source that requests a random id. If `people` is given, each request has the token of the id's owner. */
const perId = (target: Target, suffix: string, people?: readonly Person[]): RequestSource =>
  pick(
    Array.from({ length: storedIds }, (_, n) =>
      buildRequest(target, {
        path: idPath(n) + suffix,
        ...(people && { headers: bearer(people[n % people.length]!.token) }),
      }),
    ),
  )

const edit = (target: Target, { people }: DirectoryData, id: number, text: string): Buffer =>
  buildRequest(target, {
    method: "PATCH",
    path: idPath(id),
    headers: bearer(people[id % people.length]!.token),
    body: { insert: [{ tag: "0x0002", data: text }] },
  })

const listenAndEdit = (target: Target, data: DirectoryData): FanOutPlan => ({
  path: "/live",
  hello: (socket) => [
    '{"type":"connect"}',
    JSON.stringify({ type: "subscribe", channel: `emoji_id:${canonicalAt(socket % channels)}` }),
  ],
  helloAnswers: 2,
  channels,
  publishers: 8,
  trigger: (round) => edit(target, data, round % channels, `Run ${data.run}, round ${round}`),
  timedFrom: "request",
})

const readers: readonly Scenario<DirectoryData>[] = [
  {
    ...common,
    name: "lookup",
    summary: "GET /emoji_id/{id}: any of 2,000 ids",
    fromMemory: true,
    requests: (target) => perId(target, ""),
    check: isAnswer,
  },
  {
    ...common,
    name: "ticker",
    summary: "GET /emoji_id/{id}/BTC",
    fromMemory: true,
    requests: (target) => perId(target, "/BTC"),
    check: isAnswer,
  },
  {
    ...common,
    name: "payment",
    summary: "GET /emoji_id/{id}/payment, with a token",
    fromMemory: true,
    requests: (target, { people }) => perId(target, "/payment", people),
    check: isAnswer,
  },
  {
    ...common,
    name: "account",
    summary: "GET /account by any of 64 users",
    fromMemory: true,
    requests: (target, { people }) =>
      pick(people.map(({ token }) => buildRequest(target, { path: "/account", headers: bearer(token) }))),
    check: isAnswer,
  },
  {
    ...common,
    name: "search",
    summary: "GET /emoji_id/search for any of 10,000 free ids",
    requests: (target, { people }) =>
      pick(
        Array.from({ length: searches }, (_, n) =>
          buildRequest(target, {
            path: `/emoji_id/search?emoji_id=${encodeURIComponent(canonicalAt(searchedFrom + n * 7919))}`,
            headers: bearer(people[n % people.length]!.token),
          }),
        ),
      ),
    check: isAnswer,
  },
]

const writers: readonly Scenario<DirectoryData>[] = [
  {
    ...common,
    name: "edit",
    summary: "PATCH /emoji_id/{id}: one record replaced",
    requests: (target, data) => {
      let edits = 0
      return (connection) => edit(target, data, connection, `Run ${data.run}, edit ${edits++}`)
    },
  },
  {
    ...common,
    name: "fan-out",
    summary: "edits of 32 ids, each with 50 live subscribers; counts deliveries",
    connections: sockets,
    fanOut: listenAndEdit,
  },
  {
    ...common,
    name: "cart",
    summary: "cart cycle: add, check out, pay, look up; each request counts",
    firstWarmupSeconds: 3,
    requests: (target, { keys, people, run }) =>
      buy(target, { tokens: people.map(({ token }) => token), keys, firstId: run * idsPerRun }),
  },
  {
    ...common,
    name: "transfer",
    summary: "complete transfer: register, send, two codes, two acceptances; each request counts",
    connections: 32,
    firstWarmupSeconds: 3,
    requests: (target, data) => transferIds(target, data, data.run * idsPerRun),
  },
]

/**
 * The reading scenarios run first. Writes leave dead rows and open statements in the database, which slow down reads.
 */
export const comparedScenarios: readonly Scenario[] = [...readers, ...writers]
