import { request } from "node:http"
import { build } from "hdr-histogram-js"
import { WebSocket } from "ws"
import { machineMs } from "../machine-clock.ts"
import type { Measured } from "./measured.ts"

// This program measures fan-out without the WebSocket client, the HTTP client and the counting of the bench. It uses
// the client of `ws` and Node's HTTP client. It publishes one event at a time and waits for all deliveries.

export interface WsCrowdJob {
  readonly url: string
  readonly hello: readonly string[]
  readonly helloAnswers: number
  readonly publishUrl: string
  readonly sockets: number
  readonly seconds: number
}

const connectedTogether = 100
const warmupRounds = 20
const job = JSON.parse(process.argv[2] ?? "") as WsCrowdJob

let onEvent = (): void => {}

const join = (): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    let answers = 0
    const socket = new WebSocket(job.url, { perMessageDeflate: false })
    socket.on("open", () => {
      for (const text of job.hello) socket.send(text)
    })
    socket.on("message", () => {
      if (answers === job.helloAnswers) onEvent()
      else if (++answers === job.helloAnswers) resolve(socket)
    })
    socket.on("error", reject)
    socket.on("close", () => reject(new Error("a socket was closed")))
  })

/** Publishes an event. Returns the time of its commit. */
const publish = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(job.publishUrl, { method: "POST" }, (response) => {
      let text = ""
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on("end", () => resolve(Number(text)))
    })
    sent.on("error", reject)
    sent.end()
  })

const delays = build({ lowestDiscernibleValue: 1, highestTrackableValue: 120_000_000 })

const round = async (): Promise<void> => {
  const arrivals: number[] = []
  const all = new Promise<void>((resolve) => {
    onEvent = () => {
      if (arrivals.push(machineMs()) === job.sockets) resolve()
    }
  })
  const committedAt = await publish()
  await all
  for (const at of arrivals) delays.recordValue(Math.max(0, Math.round((at - committedAt) * 1000)))
}

const sockets: WebSocket[] = []
while (sockets.length < job.sockets) {
  const missing = Math.min(connectedTogether, job.sockets - sockets.length)
  sockets.push(...(await Promise.all(Array.from({ length: missing }, join))))
}
for (let n = 0; n < warmupRounds; n++) await round()
delays.reset()
process.send?.({ type: "ready" })
const startMs = performance.now()
let rounds = 0
while (performance.now() - startMs < job.seconds * 1000) {
  await round()
  rounds++
}
const operations = rounds * job.sockets
const measured: Measured & { readonly operations: number } = {
  ratePerSecond: (operations * 1000) / (performance.now() - startMs),
  operations,
  p50Ms: delays.getValueAtPercentile(50) / 1000,
  p99Ms: delays.getValueAtPercentile(99) / 1000,
  errors: 0,
}
process.send?.({ type: "measured", measured })
for (const socket of sockets) socket.terminate()
