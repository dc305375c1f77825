import { Effect } from "effect"
import { Unavailable } from "../../schema/errors.ts"
import type { Registry } from "./registry.ts"
import { isMetricsMessage, type ToParent, type ToWorker } from "./worker-messages.ts"

/** Longer than the parent waits for the other workers. */
const parentLimit = "4 seconds"

const silentParent = new Unavailable({
  error: "The parent process of the workers does not answer, so the metrics are not complete. Retry later.",
  retryAfterSeconds: 5,
})

/** Sends the values of this worker to its parent when another worker is scraped, and asks for the text of all workers. */
export const connectToParent = (metrics: Registry) => {
  const waiting = new Map<number, (text: string) => void>()
  let nextId = 1
  const send = (message: ToParent) => process.send?.(message, undefined, undefined, () => {})
  const receive = (message: unknown): void => {
    if (!isMetricsMessage<ToWorker>(message)) return
    const { id } = message
    if (message.metrics === "text") waiting.get(id)?.(message.text)
    else send({ metrics: "values", id, families: metrics.collect(false) })
  }
  process.on("message", receive)
  return {
    text: Effect.callback<string>((resume) => {
      const id = nextId++
      waiting.set(id, (text) => resume(Effect.succeed(text)))
      send({ metrics: "scraped", id, families: metrics.collect(true) })
      return Effect.sync(() => waiting.delete(id))
    }).pipe(Effect.timeoutOrElse({ duration: parentLimit, orElse: () => Effect.fail(silentParent) })),
    disconnect: () => void process.off("message", receive),
  }
}
