import { auditedLookups } from "../consistency/reads.ts"
import type { RequestSource } from "../load/http-lane.ts"
import { buildRequest, type Target } from "../load/request.ts"
import { sendAll } from "../load/send-all.ts"
import type { Scenario } from "../scenario.ts"
import { bareUws, expressPg, fastifyPostgres, fastifyRedis, type RunningServer } from "../side.ts"
import { canonicalAt, note, type StoredIds, storeIds, webPage } from "../stored/ids.ts"
import { openStored } from "../stored/open.ts"
import { storePeople } from "../stored/people.ts"
import { service } from "../subject.ts"

const uws = bareUws()
const fastify = fastifyPostgres()
/** A database that is larger than its cache answers more slowly, so the baseline stores as many ids as the service. */
const fastifyMillion = fastifyPostgres("Fastify with postgres, 1,000,000 ids", 1_000_000)
const alternatives = [expressPg(), fastifyRedis()]
const baselines = [uws, fastify, ...alternatives].map(({ name }) => name)
const many = 100_000
const few = 1_000
const million = 1_000_000
const misses = 10_000
const batchSize = 100
const missLength = 5

/** Returns the path of a lookup. It is the same for all sides, so that they receive the same request bytes. */
export const pathAt = (n: number, length?: number): string =>
  `/emoji_id/${encodeURIComponent(canonicalAt(n, length))}`

/**
 * Returns a source that sends one of the given requests at random. The requests are built before the load starts,
 * because building one costs more than sending it.
 */
export const pick = (requests: readonly Buffer[]): RequestSource => {
  const { length } = requests
  return () => requests[(Math.random() * length) | 0]!
}

export const gets = (
  target: Target,
  count: number,
  stride = 1,
  suffix = "",
  length?: number,
): readonly Buffer[] =>
  Array.from({ length: count }, (_, n) => buildRequest(target, { path: pathAt(n * stride, length) + suffix }))

const batch = (target: Target, n: number): Buffer =>
  buildRequest(target, {
    method: "POST",
    path: "/emoji_id/lookup",
    body: { emoji_ids: Array.from({ length: batchSize }, (_, i) => canonicalAt(n * batchSize + i)) },
  })

/** The service must return the stored record. The baselines always send the same answer, so theirs is not checked. */
const auditedGets = (target: Target, requests: readonly Buffer[], data: string = webPage.data) =>
  baselines.includes(target.side) ? pick(requests) : auditedLookups({ requests, data, check: isAnswer })

export const store = (server: RunningServer, stored: StoredIds): Promise<void> =>
  openStored(server, async (sql) => {
    await storePeople(sql, stored.owners ?? 1)
    await storeIds(sql, stored)
  })

/** Looks up each id once, so that the ids are in memory as in a long-running service. */
export const askAll = async ({ target }: RunningServer, ids: number, suffix = "") => {
  const requests = gets(target, ids, 1, suffix)
  await sendAll(target, requests.length, (n) => requests[n]!)
}

const storeAndAsk = async (server: RunningServer, ids: number, suffix = "") => {
  await store(server, { ids, records: suffix === "" ? [webPage] : [webPage, note] })
  await askAll(server, ids, suffix)
}

const isAnswer = (answer: { readonly body: Buffer }): boolean => answer.body.length > 0

export const lookupHot: Scenario = {
  name: "lookup-hot",
  fromMemory: true,
  summary: "one id, looked up repeatedly",
  onRequest: true,
  subject: service(),
  against: [{ side: uws, aims: [{ metric: "rate", atLeast: 0.8 }] }],
  prepare: (server) => storeAndAsk(server, 1),
  requests: (target) => auditedGets(target, gets(target, 1)),
  check: isAnswer,
}

export const lookupRandom: Scenario = {
  name: "lookup-random",
  fromMemory: true,
  summary: "any of 100,000 ids, all looked up before",
  fresh: true,
  firstWarmupSeconds: 2,
  sweep: true,
  setupSeconds: 20,
  stored: { curve: "lookup", ids: many },
  subject: service(),
  against: [
    { side: uws, aims: [{ metric: "rate", atLeast: 0.8 }] },
    { side: fastify, aims: [{ metric: "rate", atLeast: 7 }] },
    ...alternatives.map((side) => ({ side })),
  ],
  prepare: (server) => store(server, { ids: many, records: [webPage] }),
  settle: (server) => askAll(server, many),
  requests: (target) => auditedGets(target, gets(target, many)),
  check: isAnswer,
}

const thousand = service("service with 1,000 ids")

export const lookupMillion: Scenario = {
  name: "lookup-million",
  fromMemory: true,
  summary: "1,000 of 1,000,000 stored ids in use, after a restart, against 1,000 of 1,000",
  stored: { curve: "lookup", ids: million },
  fresh: true,
  firstWarmupSeconds: 2,
  setupSeconds: 30,
  rssLimitMb: 300,
  subject: service("service with 1,000,000 ids"),
  against: [{ side: thousand, aims: [{ metric: "rate", atLeast: 0.95 }] }],
  prepare: async (server) => {
    await store(server, { ids: server.target.side === thousand.name ? few : million })
    await server.restart?.()
  },
  requests: (target) =>
    auditedGets(target, gets(target, few, target.side === thousand.name ? 1 : million / few)),
  check: isAnswer,
}

export const lookupCold: Scenario<undefined> = {
  name: "lookup-cold",
  summary: "any of 1,000,000 ids, most of them not in memory",
  onRequest: true,
  rssLimitMb: 300,
  subject: service(),
  firstWarmupSeconds: 4,
  against: [{ side: fastifyMillion, aims: [{ metric: "rate", atLeast: 1.5 }] }],
  prepare: async (server) => {
    await store(server, { ids: million })
    await server.restart?.()
  },
  requests: (target) => () => buildRequest(target, { path: pathAt((Math.random() * million) | 0) }),
  check: isAnswer,
}

export const lookupMiss: Scenario = {
  name: "lookup-miss",
  fromMemory: true,
  summary: "any of 10,000 unregistered ids, all looked up before",
  onRequest: true,
  subject: service(),
  against: [{ side: uws }],
  prepare: async ({ target }) => {
    const requests = gets(target, misses, 1, "", missLength)
    await sendAll(target, requests.length, (n) => requests[n]!, [404])
  },
  requests: (target) => {
    const requests = gets(target, misses, 1, "", missLength)
    const statuses = [200, 404]
    return target.side === uws.name
      ? { source: pick(requests), statuses, check: isAnswer }
      : auditedLookups({ requests, statuses, check: isAnswer })
  },
}

export const lookupTags: Scenario = {
  name: "lookup-tags",
  fromMemory: true,
  summary: "any of 1,000 ids, only the records of one tag",
  onRequest: true,
  subject: service(),
  against: [{ side: uws }],
  prepare: (server) => storeAndAsk(server, few, `?tags=${webPage.tag}`),
  requests: (target) => pick(gets(target, few, 1, target.side === uws.name ? "" : `?tags=${webPage.tag}`)),
  check: isAnswer,
}

export const lookupBatch: Scenario = {
  name: "lookup-batch",
  fromMemory: true,
  summary: "100 ids of 10,000 in one request",
  onRequest: true,
  subject: service(),
  firstWarmupSeconds: 4,
  // An id in a batch may cost 0.4 of a request to the bare server: 4 µs, where such a request takes 10 µs.
  against: [{ side: uws, aims: [{ metric: "cpu", atMost: 40 }], firstWarmupSeconds: 1 }],
  prepare: (server) => storeAndAsk(server, batchSize * batchSize),
  requests: (target) =>
    target.side === uws.name
      ? pick(gets(target, 1))
      : pick(Array.from({ length: batchSize }, (_, n) => batch(target, n))),
  check: isAnswer,
}
