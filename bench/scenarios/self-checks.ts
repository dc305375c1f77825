import { buildRequest, type Target } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { barePublish, bareUws, fastifyPostgres, singleStatementWrites } from "../side.ts"

/**
 * The aim for a program that is compared with itself. The measured difference is the noise of the run, and smaller
 * differences in other scenarios have no meaning.
 */
const equal = [{ metric: "rate", atLeast: 0.9, atMost: 1.1 }] as const

const lookup = (target: Target) => {
  const request = buildRequest(target, { path: "/emoji_id/k7" })
  return () => request
}

const liveSocket = { path: "/live", hello: () => ["all"], helloAnswers: 1 }

export const baselineOnly: Scenario = {
  name: "baseline-only",
  fromMemory: true,
  fresh: true,
  firstWarmupSeconds: 2,
  summary: "bare uWebSockets.js against itself: shows the noise of this machine",
  subject: bareUws("bare uWebSockets.js again"),
  against: [{ side: bareUws(), aims: equal }],
  requests: lookup,
  check: (answer) => answer.body.length > 0,
}

export const baselineFastify: Scenario = {
  name: "baseline-fastify",
  summary: "Fastify with one select by key per request, against bare uWebSockets.js",
  onRequest: true,
  subject: fastifyPostgres(),
  against: [{ side: bareUws() }],
  requests: lookup,
  check: (answer) => answer.body.length > 0,
}

export const baselineWrites: Scenario = {
  name: "baseline-writes",
  summary: "bare single-statement writes against themselves",
  onRequest: true,
  subject: singleStatementWrites("bare single-statement writes again"),
  against: [{ side: singleStatementWrites(), aims: equal }],
}

export const baselinePublish: Scenario = {
  name: "baseline-publish",
  summary: "bare publish to many subscribers of one channel, against itself",
  onRequest: true,
  connections: 1_000,
  subject: barePublish("bare publish again"),
  against: [{ side: barePublish(), aims: equal }],
  fanOut: (target) => {
    const trigger = buildRequest(target, { method: "POST", path: "/publish/all" })
    return { ...liveSocket, channels: 1, publishers: 2, trigger: () => trigger }
  },
}

export const baselineReconnect: Scenario = {
  name: "baseline-reconnect",
  summary: "all clients of a bare socket server disconnect and reconnect, against itself",
  onRequest: true,
  connections: 1_000,
  subject: barePublish("bare sockets again"),
  against: [{ side: barePublish("bare sockets"), aims: equal }],
  reconnect: () => liveSocket,
}
