import { setTimeout as sleep } from "node:timers/promises"

const everyMs = 50
const timeoutMs = 20_000

export interface Probed {
  readonly sentAtMs: number
  readonly ms: number
  /** 0 if there was no response. */
  readonly status: number
}

/** Sends one request after another, with a pause, until `stop` is called. */
export const startProbe = (url: string, init: () => RequestInit = () => ({})) => {
  const probed: Probed[] = []
  let isStopped = false
  const run = async () => {
    while (!isStopped) {
      const sentAtMs = performance.now()
      const status = await fetch(url, { ...init(), signal: AbortSignal.timeout(timeoutMs) }).then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        () => 0,
      )
      probed.push({ sentAtMs, ms: performance.now() - sentAtMs, status })
      await sleep(everyMs)
    }
  }
  const ended = run()
  return {
    probed,
    stop: async () => {
      isStopped = true
      await ended
    },
  }
}

/** Returns the latency that this share of the probes did not exceed. */
export const percentile = (probed: readonly Probed[], share: number): number =>
  probed.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(probed.length * share)] ?? 0
