import { describe, expect, it } from "vitest"
import { crossCheckTable } from "../../bench/cross-check/run.ts"
import { parseWrk } from "../../bench/cross-check/wrk.ts"

const printed = `Running 5s test @ http://127.0.0.1:40001
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.31ms  413.51us  12.21ms   91.03%
    Req/Sec    49.12k     2.88k   54.01k    80.00%
  Latency Distribution
     50%    1.22ms
     75%    1.35ms
     90%  910.00us
     99%    1.02s
  244390 requests in 5.01s, 141.24MB read
  Socket errors: connect 1, read 2, write 0, timeout 4
  Non-2xx or 3xx responses: 10
Requests/sec:  48780.44
Transfer/sec:     28.19MB
`

describe("the cross-check with other load generators", () => {
  it("reads the rate, the latencies and the errors that wrk prints", () => {
    expect(parseWrk(printed)).toEqual({
      ratePerSecond: 48_780.44,
      operations: 244_390,
      p50Ms: 1.22,
      p99Ms: 1020,
      errors: 17,
    })
    expect(() => parseWrk("unable to connect to 127.0.0.1:1")).toThrow(
      "wrk printed no result: unable to connect to 127.0.0.1:1",
    )
  })

  it("compares each generator with the one of the bench on the same server", () => {
    const row = (generator: string, ...rates: number[]) => ({
      load: "lookups",
      server: "service",
      generator,
      results: rates.map((ratePerSecond) => ({
        ratePerSecond,
        p50Ms: 1,
        p99Ms: 2,
        cpuMicros: 20,
        errors: 0,
      })),
    })
    expect(crossCheckTable([row("this bench", 100, 200, 300), row("wrk", 250, 260)]).slice(2)).toEqual([
      "| lookups | service | this bench | 200 (100–300) | 1.00 | 1.00 | 2.00 | 20.0 | 1.00 | 0 |",
      "| lookups | service | wrk | 255 (250–260) | 1.28 | 1.00 | 2.00 | 20.0 | 1.00 | 0 |",
    ])
  })
})
