import { buildRequest } from "../load/request.ts"
import type { Scenario } from "../scenario.ts"
import { bareUws } from "../side.ts"
import { service } from "../subject.ts"

const uws = bareUws()

export const hello: Scenario = {
  name: "hello",
  fromMemory: true,
  summary: "GET /health: a route without work, through all layers",
  onRequest: true,
  subject: service(),
  against: [{ side: uws, aims: [{ metric: "rate", atLeast: 0.6 }] }],
  requests: (target) => {
    const request = buildRequest(target, { path: target.side === uws.name ? "/emoji_id/k7" : "/health" })
    return () => request
  },
  check: (answer) => answer.body.length > 0,
}
