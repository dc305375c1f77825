import type { ChildProcess } from "node:child_process"
import { lasting, mergeWorkers, type WorkerFamilies } from "./merge.ts"
import { registerProcessMetrics } from "./process-metrics.ts"
import { type Family, Registry } from "./registry.ts"
import { toText } from "./text-format.ts"
import { isMetricsMessage, type ToParent, type ToWorker } from "./worker-messages.ts"

/** A worker answers at once, unless it hangs. Prometheus itself gives up after ten seconds. */
const answerWithinMs = 1000

interface Worker {
  readonly slot: string
  readonly child: ChildProcess
  /** The last values that the worker has sent. */
  families: ReadonlyArray<Family>
  readonly answers: Map<number, () => void>
}

/**
 * Answers scrapes with the metrics of all workers, in their parent process. A worker that does not answer in time is
 * left out, except for its counters, which keep their last values. So do the counters of workers that have ended: sums
 * never become smaller.
 */
export class WorkerScrapes {
  readonly #count: number
  readonly #workers = new Map<string, Worker>()
  readonly #own = new Registry()
  readonly #restarts = this.#own.counter("worker_restarts_total", "Workers that ended and were replaced")
  #ended: ReadonlyArray<Family> = []
  #nextId = 1

  constructor(count: number) {
    this.#count = count
    registerProcessMetrics(this.#own)
  }

  /** Must be called when a worker is ready. `slot` is its number, which its replacement keeps. */
  add(slot: number, child: ChildProcess): void {
    const worker: Worker = { slot: String(slot), child, families: [], answers: new Map() }
    this.#workers.set(worker.slot, worker)
    child.on("message", (message) => {
      if (isMetricsMessage<ToParent>(message)) this.#receive(worker, message)
    })
    child.once("exit", () => {
      this.#workers.delete(worker.slot)
      this.#restarts.add()
      this.#ended = mergeWorkers([
        { worker: "", families: this.#ended },
        { worker: "", families: lasting(worker.families) },
      ])
      for (const answered of worker.answers.values()) answered()
    })
  }

  #receive(worker: Worker, { families, id, metrics }: ToParent): void {
    worker.families = families
    if (metrics === "values") worker.answers.get(id)?.()
    else
      this.#scrape(worker).then((text) => {
        if (worker.child.connected) send(worker, { metrics: "text", id, text })
      })
  }

  /** Asks the other workers, and returns the text of all. */
  async #scrape(asking: Worker): Promise<string> {
    const others = [...this.#workers.values()].filter((worker) => worker !== asking)
    const answered = new Set([asking.slot])
    await Promise.all(
      others.map(async (worker) => {
        if (await this.#ask(worker)) answered.add(worker.slot)
      }),
    )
    for (let slot = 1; slot <= this.#count; slot++) {
      const isUp = answered.has(String(slot))
      this.#own.gauge(...workerUp, () => (isUp ? 1 : 0), { labels: { worker: String(slot) } })
    }
    const parts: Array<WorkerFamilies> = [
      { worker: "parent", families: this.#own.collect(true) },
      { worker: "", families: this.#ended },
    ]
    for (const { families, slot } of this.#workers.values())
      parts.push({ worker: slot, families: answered.has(slot) ? families : lasting(families) })
    return toText(mergeWorkers(parts))
  }

  /** Returns whether the worker has answered in time. */
  #ask(worker: Worker): Promise<boolean> {
    const id = this.#nextId++
    return new Promise((resolve) => {
      const end = (hasAnswered: boolean) => {
        clearTimeout(timer)
        worker.answers.delete(id)
        resolve(hasAnswered)
      }
      const timer = setTimeout(() => end(false), answerWithinMs)
      worker.answers.set(id, () => end(this.#workers.get(worker.slot) === worker))
      if (worker.child.connected) send(worker, { metrics: "read", id })
      else end(false)
    })
  }
}

export const workerUp = [
  "worker_up",
  "1 if the worker answered this scrape. 0 if it hangs or is being replaced; its gauges are then left out",
] as const

/** A worker that ends while the message is sent needs no handling: its exit is reported. */
const send = ({ child }: Worker, message: ToWorker): void => void child.send(message, () => {})
