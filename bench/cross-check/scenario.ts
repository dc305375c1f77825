import type { Scenario } from "../scenario.ts"
import { askAll, gets, pathAt, pick, store } from "../scenarios/lookups.ts"
import { service } from "../subject.ts"

const ids = 1_000

/** The paths that all generators request. */
export const checkedPaths = (): readonly string[] => Array.from({ length: ids }, (_, n) => pathAt(n))

/** Lookups of 1,000 ids. Other generators can send the same requests. */
export const crossCheckLookups: Scenario = {
  name: "cross-check-lookups",
  summary: "any of 1,000 ids, all looked up before",
  fromMemory: true,
  subject: service(),
  against: [],
  prepare: async (server) => {
    await store(server, { ids })
    await askAll(server, ids)
  },
  requests: (target) => pick(gets(target, ids)),
  check: ({ body }) => body.length > 0,
}
