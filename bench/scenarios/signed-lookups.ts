import type { Scenario } from "../scenario.ts"
import type { RunningServer } from "../side.ts"
import { webPage } from "../stored/ids.ts"
import { service } from "../subject.ts"
import { askAll, gets, pick, store } from "./lookups.ts"

const ids = 20_000
const unsigned = service("service without proofs")
const suffixOf = (side: string): string => (side === unsigned.name ? "" : "?proof=true")
const askAllOf = (server: RunningServer) => askAll(server, ids, suffixOf(server.target.side))

export const lookupSigned: Scenario = {
  name: "lookup-signed",
  fromMemory: true,
  summary: "any of 20,000 ids with a proof, all looked up before, against the same without proofs",
  onRequest: true,
  firstWarmupSeconds: 2,
  setupSeconds: 30,
  subject: service("service with proofs"),
  against: [{ side: unsigned, aims: [{ metric: "rate", atLeast: 0.8 }] }],
  prepare: (server) => store(server, { ids, records: [webPage] }),
  settle: askAllOf,
  requests: (target) => pick(gets(target, ids, 1, suffixOf(target.side))),
  check: ({ body }) => body.length > 0,
}
