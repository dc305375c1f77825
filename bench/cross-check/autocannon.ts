import autocannon from "autocannon"
import type { Measured } from "./measured.ts"

// This program sends lookups with autocannon. It runs in its own process, so that it does not use the core of the
// bench.

export interface AutocannonJob {
  readonly url: string
  readonly paths: readonly string[]
  readonly connections: number
  readonly seconds: number
}

const { connections, paths, seconds, url } = JSON.parse(process.argv[2] ?? "") as AutocannonJob
process.send?.({ type: "ready" })
const {
  "2xx": operations,
  errors,
  latency,
  non2xx,
  requests,
} = await autocannon({
  url,
  connections,
  duration: seconds,
  requests: paths.map((path) => ({ method: "GET", path })),
})
const measured: Measured & { readonly operations: number } = {
  ratePerSecond: requests.average,
  operations,
  p50Ms: latency.p50,
  p99Ms: latency.p99,
  errors: errors + non2xx,
}
process.send?.({ type: "measured", measured })
